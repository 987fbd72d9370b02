#!/usr/bin/env bash
# A background task from its making to its end, against a running service:
#
#   npm start                                   (in another terminal)
#   examples/tasks.sh [url]                     (default http://127.0.0.1:3001)
#
# It works in a folder that it removes again. If the service was started with LOCAL_AGENT_TOKEN, set that here too.
set -euo pipefail
. "$(dirname "$0")/call.sh"

# field NAME: the first value of that name in the JSON that is read.
field () { grep -o "\"$1\":\"[^\"]*\"" | sed -n "1s/.*:\"\(.*\)\"/\1/p"; }
# happens PATTERN: waits until the event stream has said that, and shows it.
happens () {
  local waited=0
  until grep -q -- "$1" "$folder/events"; do
    waited=$((waited + 1))
    if [ "$waited" -gt 300 ]; then echo "There was no $1." >&2; exit 1; fi
    sleep 0.1
  done
  grep -m 1 -- "$1" "$folder/events"
}

step 'Watch: every task tells what happens on one stream'
touch "$folder/events"
EXEC=exec call GET /tasks/events > "$folder/events" &
watching=$!
trap 'kill "$watching" 2> /dev/null || true; rm -rf "$folder"' EXIT
mkdir "$folder/desk"

step 'Make a task: every Monday at nine; a person looks at its first run'
call POST /tasks "{
  \"goal\": \"write \\\"hello\\\" to hello.txt\", \"taskType\": \"recurring\", \"schedule\": {\"interval\": \"every monday at 9am\"},
  \"approval\": {\"mode\": \"first_n\", \"firstN\": 1}, \"cwd\": \"$folder/desk\"
}" | tee "$folder/task"
task=/tasks/$(field id < "$folder/task")

step 'Start it: it now waits for its time'
call POST "$task/start"
echo
call GET "$task/schedule?upcoming=2"

step 'Run it now, whatever its schedule says'
call POST "$task/run"

step 'It asks before it writes: approve'
happens '"kind":"tool"'
call POST "$task/approve" '{"approved": true}'

step 'It asks for its result: approve, with a word for later runs'
happens '"kind":"result"'
call POST "$task/approve" '{"approved": true, "notes": "Just what I wanted."}'
echo
happens '"type":"task:complete".*"runNumber":1'
echo "hello.txt now holds: $(cat "$folder/desk/hello.txt")"

step 'Steer it, and let it run with that at once; what was approved goes unasked now'
call POST "$task/steer" '{"comment": "Be brief.", "runNow": true}'
echo
happens '"type":"task:complete".*"runNumber":2'

step 'Its runs, newest first'
call GET "$task/runs"

step 'Pause it, and let it go on'
call POST "$task/pause"
echo
call POST "$task/resume"

step 'Cancel it, and remove it with its runs'
call POST "$task/cancel"
echo
call DELETE "$task"
echo
