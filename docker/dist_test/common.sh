# What local_test.sh and remote_test.sh share: options, tools, a cluster in containers or in processes, and the two models.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

say() { printf '==> %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

model_name=MNIST
num_workers=2
num_parameter_servers=2
sync_replicas=false
setup_cluster_only=false
train_steps=

usage() {
  cat <<TEXT
$(basename "$0") [OPTION...]

  --model-name MNIST|CENSUS_WIDENDEEP  what to train ($model_name)
  --num-workers N                      workers ($num_workers)
  --num-parameter-servers N            parameter servers ($num_parameter_servers)
  --sync-replicas                      MNIST: gather the workers' gradients into one update
  --train-steps N                      global step to stop at (MNIST 200, CENSUS_WIDENDEEP 300)
  --setup-cluster-only                 start the cluster, say where it is, and leave it running

Options may be written with underscores, too. Environment: TROUPE_BIN, the program (build/release/troupe, else on the PATH);
PYTHON, an interpreter with TensorFlow (build/venv/bin/python, else python3); TROUPE_MNIST_DIR, the real digits;
TROUPE_DIST_ENGINE, docker or processes (docker where it answers);
TF_DIST_GRPC_SERVER_URL, a running cluster for remote_test.sh: grpc://host:port of one worker, or of each, separated by commas.
TEXT
}

whole_number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 takes a number from 1 on, not '$2'"; }

parse_options() {
  local option
  while [[ $# -gt 0 ]]; do
    option=${1//_/-}
    [[ $option != --*=* ]] || { set -- "${1%%=*}" "${1#*=}" "${@:2}"; option=${1//_/-}; }
    case "$option" in
      --model-name) model_name=${2:-}; shift ;;
      --num-workers) num_workers=${2:-}; shift ;;
      --num-parameter-servers) num_parameter_servers=${2:-}; shift ;;
      --train-steps) train_steps=${2:-}; shift ;;
      --sync-replicas) sync_replicas=true ;;
      --setup-cluster-only) setup_cluster_only=true ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; fail "unknown option '$1'" ;;
    esac
    shift || fail "$option takes a value"
  done
  whole_number --num-workers "$num_workers"
  whole_number --num-parameter-servers "$num_parameter_servers"
  case "$model_name" in
    MNIST) train_steps=${train_steps:-200} ;;
    CENSUS_WIDENDEEP) train_steps=${train_steps:-300} ;;
    *) fail "--model-name is MNIST or CENSUS_WIDENDEEP, not '$model_name'" ;;
  esac
  whole_number --train-steps "$train_steps"
}

find_tools() {
  troupe=${TROUPE_BIN:-$root/build/release/troupe}
  [[ -x $troupe ]] || troupe=$(command -v troupe) || fail "the program troupe is not built: ./run build, or set TROUPE_BIN"
  python=${PYTHON:-$root/build/venv/bin/python}
  [[ -x $python ]] || python=$(command -v "${PYTHON:-python3}") || fail "no Python: set PYTHON to one with TensorFlow"
  engine=${TROUPE_DIST_ENGINE:-}
  if [[ -z $engine ]]; then
    engine=processes
    ! docker info >/dev/null 2>&1 || engine=docker
  fi
  work=$(mktemp -d)
  export TROUPE_BIN=$troupe TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-1} PYTHONPATH="$root/config/python${PYTHONPATH:+:$PYTHONPATH}"
}

free_ports() {
  "$python" - "$1" <<'PYTHON'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])
PYTHON
}

# hosts COUNT: that many addresses of this machine, separated by commas
hosts() {
  local port list=()
  for port in $(free_ports "$1"); do list+=("localhost:$port"); done
  (IFS=,; echo "${list[*]}")
}

nodes=()  # process ids, or names of containers

start_node() {
  local job=$1 index=$2 log="$work/$1-$2.log"
  local arguments=("--cluster_spec=$cluster_spec" "--job_name=$job" "--task_id=$index")
  if [[ $engine == docker ]]; then
    local name="troupe-dist-test-$$-$job-$index"
    docker run --detach --rm --network host --name "$name" troupe "${arguments[@]}" >"$log"
    nodes+=("$name")
  else
    setsid "$troupe" node "${arguments[@]}" </dev/null >"$log" 2>&1 &
    nodes+=($!)
  fi
}

# start_cluster JOB=HOST,HOST...: one node per host; returns when all answer
start_cluster() {
  local spec job index
  cluster_spec=
  for spec in "$@"; do cluster_spec+="${cluster_spec:+,}${spec%%=*}|$(tr , ';' <<<"${spec#*=}")"; done
  [[ $engine != docker ]] || docker build --quiet --tag troupe --file "$root/docker/Dockerfile" "$root" >/dev/null
  for spec in "$@"; do
    job=${spec%%=*}
    IFS=, read -ra list <<<"${spec#*=}"
    for index in "${!list[@]}"; do start_node "$job" "$index"; done
  done
  for spec in "$@"; do
    IFS=, read -ra list <<<"${spec#*=}"
    for index in "${!list[@]}"; do wait_for "${list[index]}" || fail "${spec%%=*} $index does not answer at ${list[index]}: $(cat "$work/${spec%%=*}-$index.log")"; done
  done
  say "A cluster in $engine: $cluster_spec"
}

wait_for() {
  local attempt
  for attempt in {1..300}; do
    (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null && return
    sleep 0.1
  done
  return 1
}

stop_cluster() {
  local node
  for node in "${nodes[@]}"; do
    if [[ $engine == docker ]]; then docker stop "$node" >/dev/null || true; else kill "$node" 2>/dev/null || true; fi
  done
  nodes=()
}

declare -A clients=()  # process ids by name

clean_up() {
  local client
  for client in "${clients[@]}"; do kill "$client" 2>/dev/null || true; done
  stop_cluster
  rm -rf "$work"
}

# wait_for_clients: the clients so far must end well; says what went wrong otherwise
wait_for_clients() {
  local name status
  for name in "${!clients[@]}"; do
    status=0
    wait "${clients[$name]}" || status=$?
    unset "clients[$name]"
    [[ $status -eq 0 ]] || { tail -n 20 "$work/client-$name.log" >&2; fail "client $name ended with $status"; }
  done
}

# start_client NAME ARG...: a program under Python, in the background
start_client() {
  "$python" "${@:2}" </dev/null >"$work/client-$1.log" 2>&1 &
  clients[$1]=$!
}

# judge FILE PATTERN LEAST: the last accuracy in a log must reach the least
judge() {
  local accuracy
  accuracy=$(sed -nE "s/$2/\1/p" "$1" | tail -n 1)
  [[ -n $accuracy ]] || fail "no accuracy in the log: $(tail -n 5 "$1")"
  say "Accuracy $accuracy"
  awk -v got="$accuracy" -v least="$3" 'BEGIN { exit !(got >= least) }' || fail "the accuracy is below $3"
}

# train_mnist PS_HOSTS WORKER_HOSTS URLS: one client per worker, on servers that run
train_mnist() {
  local i urls
  IFS=, read -ra urls <<<"$3"
  for ((i = 0; i < num_workers; ++i)); do
    start_client "$i" "$root/examples/mnist_replica.py" "--ps_hosts=$1" "--worker_hosts=$2" "--task_index=$i" \
      "--worker_grpc_url=${urls[i % ${#urls[@]}]}" "--train_steps=$train_steps" "--sync_replicas=$sync_replicas"
  done
  wait_for_clients
  for ((i = 0; i < num_workers; ++i)); do judge "$work/client-$i.log" '^accuracy ([0-9.]+)$' 0.85; done
}

quoted() { sed 's/,/", "/g; s/.*/"&"/' <<<"$1"; }

# start_census JOB INDEX RUNNER...: one task of the estimator in $census_cluster; the runner is nothing, or -m troupe
start_census() {
  TF_CONFIG="{\"cluster\": {$census_cluster}, \"task\": {\"type\": \"$1\", \"index\": $2}, \"environment\": \"$census_environment\"}" \
    start_client "$1-$2" "${@:3}" "$root/examples/census_wide_deep.py" "--data_dir=$work/data" "--model_dir=$work/model" \
    "--train_steps=$train_steps" "--checkpoint_steps=$(((train_steps + 1) / 2))"
}

# train_census CHIEF WORKER_HOSTS PS_HOSTS own|existing: with servers that the tasks start, or with some that run
train_census() {
  local i runner=()
  census_cluster="\"chief\": [$(quoted "$1")], \"ps\": [$(quoted "$3")]"
  [[ -z $2 ]] || census_cluster+=", \"worker\": [$(quoted "$2")]"
  census_environment=google  # an estimator takes the servers for granted there
  if [[ $4 == own ]]; then
    census_environment=cloud
    runner=(-m troupe)
    for ((i = 0; i < num_parameter_servers; ++i)); do
      start_census ps "$i" "${runner[@]}"
      nodes+=("${clients[ps-$i]}")
      unset "clients[ps-$i]"
    done
  fi
  start_census evaluator 0 "${runner[@]}"
  start_census chief 0 "${runner[@]}"
  for ((i = 0; i < num_workers - 1; ++i)); do start_census worker "$i" "${runner[@]}"; done
  wait_for_clients
  judge "$work/client-evaluator-0.log" '.*Saving dict for global step [0-9]+: accuracy = ([0-9.]+),.*' 0.7
}

# tell_targets URLS: for --setup-cluster-only; the cluster stays
tell_targets() {
  local stop="kill ${nodes[*]}"
  [[ $engine != docker ]] || stop="docker stop ${nodes[*]}"
  nodes=()
  say "It runs on. Use it with, and end it by:"
  echo "export TF_DIST_GRPC_SERVER_URL=$1"
  echo "$stop"
}
