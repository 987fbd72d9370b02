#!/usr/bin/env bash
# A scripted conversation in CI, without a model, a key or a network:
#
#   examples/ci/conversation.sh [command…]      (default: npx --no-install local-agent)
#
# It starts the service in a new folder, has the agent write a file, approves that, checks the answers and ends the service. It
# needs bash, curl and node, and neither HOME nor any other variable but PATH. The exit code is 0 when everything was as expected.
set -euo pipefail

if [ $# -eq 0 ]; then set -- npx --no-install local-agent; fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
work=$folder/work
mkdir "$folder/home" "$work"
export LOCAL_AGENT_HOME="$folder/home"

# Each entry answers one call of the model.
cat > "$LOCAL_AGENT_HOME/config.json" <<'JSON'
{
  "model": "offline/scripted",
  "offline": {
    "script": [
      { "toolCalls": [{ "toolName": "writeFile", "input": { "path": "notes.txt", "content": "from the script" } }] },
      { "text": "The note is written." }
    ]
  }
}
JSON

# With --stdin the service ends when this script ends, however that happens. Standard output holds the ready line.
coproc service { exec "$@" --port 0 --stdin 2> "$folder/log"; }
pid=$service_PID
stdin=${service[1]}
echo '{}' >&"$stdin"
read -r ready <&"${service[0]}" || { cat "$folder/log" >&2; exit 1; }

# json <expression>: evaluates the expression for the JSON `it` from standard input.
json () { node -e "const it = JSON.parse(require('fs').readFileSync(0, 'utf8')); console.log($1)"; }
post () { curl -sS --fail-with-body --max-time 20 -X POST "$url$1" -H 'content-type: application/json' -d "$2"; }
# expect <what> <actual> <expected>
expect () { [ "$2" = "$3" ] && echo "ok: $1" || { echo "not ok: $1: \"$2\" instead of \"$3\"" >&2; exit 1; }; }

url=$(json it.url <<< "$ready")

said='{ "role": "user", "content": "Write the note." }'
waiting=$(post /run/sync "{ \"messages\": [$said], \"context\": { \"cwd\": \"$work\" } }")
expect 'the run waits for an approval' "$(json 'it.pendingApprovals.map(({ toolName }) => toolName)' <<< "$waiting")" "[ 'writeFile' ]"
expect 'nothing was written before it' "$(ls "$work")" ''

approval=$(json 'it.pendingApprovals[0].approvalId' <<< "$waiting")
decision="{ \"type\": \"tool-approval-response\", \"approvalId\": \"$approval\", \"approved\": true }"
answer=$(post /run/sync "{ \"messages\": [$said, { \"role\": \"tool\", \"content\": [$decision] }] }")
expect 'the agent answers' "$(json 'it.text' <<< "$answer")" 'The note is written.'
expect 'the approved call has run' "$(cat "$work/notes.txt")" 'from the script'

exec {stdin}>&-
wait "$pid"
echo 'ok: the service ended in order'
