#!/usr/bin/env bash
# Takes a background task from its creation to its end, against a running service:
#
#   npm start                                   (in another terminal)
#   examples/tasks.sh [url]                     (default http://127.0.0.1:3001)
#
# The task works in a temporary folder. If the service was started with LOCAL_AGENT_TOKEN, set it here too.
set -euo pipefail
. "$(dirname "$0")/call.sh"

# field NAME: prints the first value of that name in the JSON on standard input.
field () { grep -o "\"$1\":\"[^\"]*\"" | sed -n "1s/.*:\"\(.*\)\"/\1/p"; }
# happens PATTERN: waits until an event matches the pattern, and prints the event.
happens () {
  local waited=0
  until grep -q -- "$1" "$folder/events"; do
    waited=$((waited + 1))
    if [ "$waited" -gt 300 ]; then echo "There was no $1." >&2; exit 1; fi
    sleep 0.1
  done
  grep -m 1 -- "$1" "$folder/events"
}

step 'Subscribe to the events of all tasks'
touch "$folder/events"
EXEC=exec call GET /tasks/events > "$folder/events" &
watching=$!
trap 'kill "$watching" 2> /dev/null || true; rm -rf "$folder"' EXIT
mkdir "$folder/desk"

step 'Create a task for every Monday at nine; its first run needs approval'
call POST /tasks "{
  \"goal\": \"write \\\"hello\\\" to hello.txt\", \"taskType\": \"recurring\", \"schedule\": {\"interval\": \"every monday at 9am\"},
  \"approval\": {\"mode\": \"first_n\", \"firstN\": 1}, \"cwd\": \"$folder/desk\"
}" | tee "$folder/task"
task=/tasks/$(field id < "$folder/task")

step 'Start the task: it waits for its planned time'
call POST "$task/start"
echo
call GET "$task/schedule?upcoming=2"

step 'Run it now, independently of its schedule'
call POST "$task/run"

step 'The run requests approval before it writes: approve'
happens '"kind":"tool"'
call POST "$task/approve" '{"approved": true}'

step 'The run requests approval of its result: approve, with feedback for later runs'
happens '"kind":"result"'
call POST "$task/approve" '{"approved": true, "notes": "Just what I wanted."}'
echo
happens '"type":"task:complete".*"runNumber":1'
echo "hello.txt now holds: $(cat "$folder/desk/hello.txt")"

step 'Steer it and run it at once; approved tools now run without approval'
call POST "$task/steer" '{"comment": "Be brief.", "runNow": true}'
echo
happens '"type":"task:complete".*"runNumber":2'

step 'List its runs, newest first'
call GET "$task/runs"

step 'Pause and resume it'
call POST "$task/pause"
echo
call POST "$task/resume"

step 'Cancel it, and delete it with its runs'
call POST "$task/cancel"
echo
call DELETE "$task"
echo
