#!/usr/bin/env bash
# Makes the documented calls, one after the other, against a running service:
#
#   npm start                                   (in another terminal)
#   examples/curl.sh [url]                      (default http://127.0.0.1:3001)
#
# It writes hello.txt into a temporary folder; the preference "greeting" stays in the brain.
# If the service was started with LOCAL_AGENT_TOKEN, set it here too.
set -euo pipefail

. "$(dirname "$0")/call.sh"

step 'Check the health of the service and list its endpoints'
call GET /health
echo
call GET /

step 'List the providers of models'
call GET /providers
# To use a model of the gateway from the next run on:
#   call POST /providers/configure '{"model": "anthropic/claude-sonnet-5.5", "gateway_key": "<GATEWAY_KEY>"}'

step 'Add to the brain; its contextPreview becomes part of the system prompt of each run'
call POST /memory/brain/fact '{"fact": "Tries the service out with curl"}'
echo
call POST /memory/brain/pref '{"key": "greeting", "value": "hello"}'
echo
call GET /memory/brain

step 'Run the agent: the answer is a stream of events, with one JSON object per "data:" line'
user='{"role": "user", "content": "write \"hello\" to hello.txt"}'
context="{\"cwd\": \"$folder\"}"
call POST /run "{\"messages\": [$user], \"context\": $context}" | tee "$folder/stream"

step 'The run waits for approval before it writes; approve, and it continues'
approval=$(sed -n 's/.*"type":"tool-approval-request".*"approvalId":"\([^"]*\)".*/\1/p' "$folder/stream" | head -n 1)
[ -n "$approval" ] || { echo 'The model requested no approval this time.' >&2; exit 1; }
decision="{\"role\": \"tool\", \"content\": [{\"type\": \"tool-approval-response\", \"approvalId\": \"$approval\", \"approved\": true}]}"
call POST /run/approve "{\"messages\": [$user, $decision], \"context\": $context}"
echo "hello.txt now holds: $(cat "$folder/hello.txt")"

step 'Delete the fact; the text must equal the stored one'
call DELETE /memory/brain/fact '{"fact": "Tries the service out with curl"}'
# To delete everything permanently:
#   call DELETE /memory/brain
echo
