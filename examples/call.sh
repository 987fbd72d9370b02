# Sourced by the other scripts here: sets $base and $folder (removed at the end) and defines the functions below.
base=${1:-http://127.0.0.1:3001}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# call METHOD PATH [JSON]: prints the answer. --no-buffer prints streams without delay, --fail-with-body ends the script on errors.
# With EXEC=exec, curl replaces the background process, so that killing the process ends the stream.
call () {
  local body=()
  if [ $# -gt 2 ]; then body=(--header 'Content-Type: application/json' --data "$3"); fi
  if [ -n "${LOCAL_AGENT_TOKEN:-}" ]; then body+=(--header "Authorization: Bearer $LOCAL_AGENT_TOKEN"); fi
  ${EXEC:-} curl --silent --show-error --no-buffer --fail-with-body --request "$1" ${body[@]+"${body[@]}"} "$base$2"
}
step () { printf '\n\n== %s\n' "$1"; }
