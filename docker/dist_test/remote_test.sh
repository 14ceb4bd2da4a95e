#!/usr/bin/env bash
# Trains a model from outside on a cluster that runs: the one at TF_DIST_GRPC_SERVER_URL, otherwise one that it starts first.
set -euo pipefail
# shellcheck source=docker/dist_test/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

parse_options "$@"
find_tools
trap clean_up EXIT

urls=${TF_DIST_GRPC_SERVER_URL:-}
if [[ -n $urls ]]; then
  [[ $setup_cluster_only == false ]] || fail "--setup-cluster-only: TF_DIST_GRPC_SERVER_URL names a cluster already"
  [[ $model_name == MNIST ]] || fail "CENSUS_WIDENDEEP needs the addresses of a chief, workers and ps; unset TF_DIST_GRPC_SERVER_URL to start them"
  # Addresses are the servers' own affair; the client only counts tasks.
  train_mnist "$(hosts "$num_parameter_servers")" "$(hosts "$num_workers")" "$urls"
  echo SUCCESS
  exit
fi

ps=$(hosts "$num_parameter_servers")
if [[ $model_name == CENSUS_WIDENDEEP ]]; then
  chief=$(hosts 1) workers=
  [[ $num_workers -eq 1 ]] || workers=$(hosts $((num_workers - 1)))
  start_cluster "ps=$ps" "chief=$chief" ${workers:+"worker=$workers"}
  urls="grpc://$chief"
else
  workers=$(hosts "$num_workers")
  start_cluster "ps=$ps" "worker=$workers"
  urls="grpc://${workers//,/,grpc://}"
fi
if [[ $setup_cluster_only == true ]]; then
  tell_targets "$urls"
  exit
fi
if [[ $model_name == MNIST ]]; then train_mnist "$ps" "$workers" "$urls"; else train_census "$chief" "$workers" "$ps" existing; fi
echo SUCCESS
