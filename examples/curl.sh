#!/usr/bin/env bash
# The documented calls, one after the other, against a running service:
#
#   npm start                                   (in another terminal)
#   examples/curl.sh [url]                      (default http://127.0.0.1:3001)
#
# It writes one file, hello.txt, into a folder that it removes again; the brain keeps one preference, "greeting".
# If the service was started with LOCAL_AGENT_TOKEN, set that here too.
set -euo pipefail

. "$(dirname "$0")/call.sh"

step 'Is it up, and what is it?'
call GET /health
echo
call GET /

step 'Which models can it use?'
call GET /providers
# To use a model of the gateway from the next run on:
#   call POST /providers/configure '{"model": "anthropic/claude-sonnet-5.5", "gateway_key": "<GATEWAY_KEY>"}'

step 'Teach the brain about the user; each run is told its contextPreview'
call POST /memory/brain/fact '{"fact": "Tries the service out with curl"}'
echo
call POST /memory/brain/pref '{"key": "greeting", "value": "hello"}'
echo
call GET /memory/brain

step 'Run the agent: an answer is a stream of events, one JSON object a "data:" line'
user='{"role": "user", "content": "write \"hello\" to hello.txt"}'
context="{\"cwd\": \"$folder\"}"
call POST /run "{\"messages\": [$user], \"context\": $context}" | tee "$folder/stream"

step 'It asked before writing; approve, and the run goes on'
approval=$(sed -n 's/.*"type":"tool-approval-request".*"approvalId":"\([^"]*\)".*/\1/p' "$folder/stream" | head -n 1)
[ -n "$approval" ] || { echo 'The model asked for nothing this time.' >&2; exit 1; }
decision="{\"role\": \"tool\", \"content\": [{\"type\": \"tool-approval-response\", \"approvalId\": \"$approval\", \"approved\": true}]}"
call POST /run/approve "{\"messages\": [$user, $decision], \"context\": $context}"
echo "hello.txt now holds: $(cat "$folder/hello.txt")"

step 'Forget the fact again; it must be given as it is stored'
call DELETE /memory/brain/fact '{"fact": "Tries the service out with curl"}'
# Everything at once, for good:
#   call DELETE /memory/brain
echo
