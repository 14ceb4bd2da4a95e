#!/usr/bin/env bash
# Trains a model on a cluster of this machine: in containers, or in processes where there is no container engine.
set -euo pipefail
# shellcheck source=docker/dist_test/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

parse_options "$@"
find_tools
trap clean_up EXIT

ps=$(hosts "$num_parameter_servers")
if [[ $model_name == CENSUS_WIDENDEEP && $setup_cluster_only == false ]]; then
  # Estimators start their own servers from TF_CONFIG; under `python -m troupe` these are nodes.
  engine=processes
  workers=
  [[ $num_workers -eq 1 ]] || workers=$(hosts $((num_workers - 1)))
  train_census "$(hosts 1)" "$workers" "$ps" own
else
  workers=$(hosts "$num_workers")
  start_cluster "ps=$ps" "worker=$workers"
  urls="grpc://${workers//,/,grpc://}"
  if [[ $setup_cluster_only == true ]]; then
    tell_targets "$urls"
    exit
  fi
  train_mnist "$ps" "$workers" "$urls"
fi
echo SUCCESS
