import type { ObeyedWay } from '../obeyed-ways.ts'
import { sh as start } from './obeyed-ways-open.ts'

// Ways by names, places, links, what hooks start in turn, and time.

/**
 * `evil CONFIG` has settings of git trip at `git status`. `meanwhile COMMAND` is another program of the user, which runs that as soon as
 * the command in the box says `now`, and keeps in `$own` that it tripped.
 */
const sh = (script: TemplateStringsArray) => start`` + String.raw`
evil() { printf '[core]\n\tfsmonitor = "%s"\n' "$bad" >> "$1"; }
meanwhile() { (for n in $(seq 250); do [ -e go ] && break; sleep 0.1; done
  [ -e go ] && eval "$1"; [ ! -e "$TRIP" ] || touch "$own"; touch seen) < /dev/null > /dev/null 2>&1 & }
now() { touch go; for n in $(seq 50); do [ -e seen ] && break; sleep 0.1; done; }
` + script.raw.join('')

const SOURCED = sh`[ ! -e .envrc ] || . ./.envrc`
const KEPT = sh`[ ! -e "$own" ] || touch "$TRIP"`

/** Each trips in a folder that nothing protects. */
export const WAYS: ObeyedWay[] = [
  {
    name: 'a folder whose name is no text',
    inside: sh`mkdir $'\xff\xfe'; echo "$bad" > $'\xff\xfe/.envrc'`,
    after: sh`cd $'\xff\xfe'; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a repository in a folder whose name has two lines and ends with a blank',
    inside: sh`git init -q $'a\nb '; evil $'a\nb /.git/config'`,
    after: sh`cd $'a\nb '; git status --short`
  },
  {
    name: 'a path that cannot be longer',
    inside: sh`while [ $(printf %s "$PWD" | wc -c) -lt 3900 ]; do mkdir "$(printf 'd%.0s' $(seq 99))"; cd d*; done
      last=$((4087 - $(printf %s "$PWD" | wc -c))); mkdir "$(printf 'e%.0s' $(seq $last))"; cd e*; echo "$bad" > .envrc`,
    after: sh`(while cd d* 2> /dev/null; do :; done; cd e* && [ -e .envrc ] && . ./.envrc); rm -rf d*`
  },
  {
    name: 'names that are obeyed ones where case, width and marks do not count',
    inside: sh`mkdir -p sub; for name in Claude.MD AGENTS.Md .EnvRC $'.\uff45nvrc' $'\uff0ecursorrules' $'.mcp\u00ad.json' '.exrc. '; do
      echo evil > "sub/$name"; done`,
    after: sh`! grep -qsr evil sub --exclude='*.boxed*' --exclude-dir='*.boxed*' || touch "$TRIP"`
  },
  {
    name: 'settings of editors in an ignored package',
    before: sh`echo node_modules > .gitignore; mkdir -p node_modules/lib`,
    inside: sh`cd node_modules/lib; mkdir .fleet .nova .theia .helix .zed .idea .vs
      for name in .fleet/run.json .nova/Tasks .theia/tasks.json .helix/languages.toml .zed/tasks.json .idea/workspace.xml \
        .vs/tasks.vs.json .lvimrc .nvimrc .nvim.lua .dir-locals.el .dir-locals-2.el .devcontainer.json; do echo evil > $name; done`,
    after: sh`cd node_modules/lib; for name in .fleet .nova .theia .helix .zed .idea .vs .lvimrc .nvimrc .nvim.lua .dir-locals.el \
      .dir-locals-2.el .devcontainer.json; do [ ! -e $name ] || touch "$TRIP"; done`
  },
  {
    name: 'instructions for agents in a folder of the tree',
    before: sh`mkdir -p packages/app`,
    inside: sh`cd packages/app; for name in AGENTS.override.md CLAUDE.local.md GEMINI.md QWEN.md SKILL.md .cursorrules .windsurfrules \
      opencode.json .crush.json .aider.conf.yml; do echo evil > $name; done
      for name in .agents .codex .gemini .cursor .windsurf .kiro .amazonq .roo .qwen .opencode; do
        mkdir $name; echo evil > $name/rules.md; done`,
    after: sh`cd packages/app; ! grep -qsr evil . --exclude='*.boxed*' --exclude-dir='*.boxed*' || touch "$TRIP"`
  },
  {
    name: 'what other systems of versions and of computers obey',
    inside: sh`mkdir -p disk/.hg disk/.svn; printf '[hooks]\nupdate = %s\n' "$bad" > disk/.hg/hgrc; echo evil > disk/.svn/format
      for name in desktop.ini autorun.inf .autoenv .tool-versions; do echo evil > disk/$name; done`,
    after: sh`for name in .hg/hgrc .svn/format desktop.ini autorun.inf .autoenv .tool-versions; do
      [ ! -e disk/$name ] || touch "$TRIP"; done`
  },
  {
    name: 'a new command and a new skill in the folder of an agent that was there',
    before: sh`mkdir .claude; echo '{}' > .claude/settings.json`,
    inside: sh`mkdir -p .claude/skills/x .claude/commands; echo evil > .claude/skills/x/SKILL.md; echo evil > .claude/commands/x.md
      echo '{"hooks":{}}' > .claude/settings.local.json`,
    after: sh`for name in skills/x/SKILL.md commands/x.md settings.local.json; do [ ! -e .claude/$name ] || touch "$TRIP"; done`
  },
  {
    name: 'the settings of vim in a folder, for those who let it read them',
    before: sh`echo 'set exrc' > "$HOME/.vimrc"; mkdir sub`,
    inside: sh`echo "silent !touch '$TRIP'" > sub/.exrc`,
    after: sh`cd sub; TERM=xterm timeout 10 script -qec 'vim -n +qa' /dev/null < /dev/null`
  },
  {
    name: 'a link in the middle of the way to which .envrc is a link',
    before: sh`mkdir -p env/v1 env/v2; echo : > env/v1/run; ln -s v1 env/now; ln -s env/now/run .envrc`,
    inside: sh`echo "$bad" > env/v2/run; ln -sfn v2 env/now`,
    after: SOURCED
  },
  {
    name: 'the missing file to which .envrc is a link',
    before: sh`mkdir env; ln -s env/local .envrc`,
    inside: sh`echo "$bad" > env/local`,
    after: SOURCED
  },
  {
    name: 'a file that has the same bytes on the disk as instructions, with its time set back',
    before: sh`printf 'Run ./good.sh\n' > AGENTS.md; ln AGENTS.md notes.txt`,
    inside: sh`touch -r notes.txt time; printf 'Run ./evil.sh\n' > notes.txt; touch -r time notes.txt`,
    after: sh`! grep -qs evil AGENTS.md || touch "$TRIP"`
  },
  {
    name: 'a file that has the same bytes on the disk as the settings of git',
    before: sh`mkdir saved; ln .git/config saved/settings.txt`,
    inside: sh`evil saved/settings.txt`,
    after: sh`git status --short`
  },
  {
    name: 'a script that has the same bytes on the disk as a hook',
    before: sh`mkdir ci; printf '#!/bin/sh\n:\n' > ci/check; chmod +x ci/check; ln ci/check .git/hooks/pre-commit`,
    inside: sh`echo "$bad" >> ci/check`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'instructions that are a new link to ordinary text, which a second command writes',
    before: sh`echo hello > notes.txt`,
    inside: [sh`mkdir -p app; ln -s ../notes.txt app/CLAUDE.md`, sh`echo evil > notes.txt`],
    after: sh`! grep -qs evil app/CLAUDE.md || touch "$TRIP"`
  },
  {
    name: 'a new file in the folder to which the settings of an editor are a link',
    before: sh`mkdir -p conf/editor; echo '{}' > conf/editor/settings.json; ln -s conf/editor .vscode`,
    inside: sh`echo folderOpen > conf/editor/tasks.json`,
    after: sh`! grep -qs folderOpen .vscode/tasks.json || touch "$TRIP"`
  },
  {
    name: 'an .envrc of the user moved to where the file that it reads is another one',
    before: sh`mkdir -p sample; echo '. ./setup' > sample/.envrc; echo : > sample/setup`,
    inside: sh`mv sample/.envrc .envrc || cp sample/.envrc .envrc; echo "$bad" > setup`,
    after: SOURCED
  },
  {
    name: 'a folder with an .envrc moved to where the file that it reads is another one',
    before: sh`mkdir -p app/web; echo '. ../setup' > app/web/.envrc; echo : > app/setup`,
    inside: sh`mkdir later; echo "$bad" > later/setup; mv app/web later/web; mv app old; mv later app`,
    after: sh`cd app/web; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'an ignored folder of old files moved to where an editor looks',
    before: sh`echo cache > .gitignore; mkdir -p cache/skeleton; echo folderOpen > cache/skeleton/tasks.json
      touch -d 2020-01-01 cache/skeleton/tasks.json cache/skeleton`,
    inside: sh`mv cache/skeleton .vscode; touch -d 2020-01-01 .`,
    after: sh`! grep -qs folderOpen .vscode/tasks.json || touch "$TRIP"`
  },
  {
    name: 'bytes that a commit of the user has at another path',
    before: sh`mkdir -p test/.data; echo "$bad" > test/.data/attack; git add .; git commit -qm attack`,
    inside: sh`cp test/.data/attack .envrc`,
    after: SOURCED
  },
  {
    name: 'a file of the first commit of a repository that the command made',
    inside: [sh`git init -q lib; cd lib; echo "$bad" > .envrc; git add -f .envrc; git commit -qm first`,
      sh`cd lib; git checkout -q -f HEAD -- .`],
    after: sh`cd lib; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a file of a stash, which a later command takes out',
    inside: [sh`echo "$bad" > .envrc; git stash push -q -u`, sh`git stash pop -q`],
    after: SOURCED
  },
  {
    name: 'a module that the program of a hook imports',
    before: sh`mkdir ci; echo 'import rules' > ci/check.py; echo 'x = 1' > ci/rules.py
      printf '#!/bin/sh\nexec python3 ci/check.py\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`printf 'open("%s", "w")\n' "$TRIP" > ci/rules.py`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a missing file that the list of commands of a hook would take in',
    before: sh`printf -- '-include local.mk\ncheck:\n\t@true\n' > Makefile; printf '#!/bin/sh\nmake -s check\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`printf 'check: evil\nevil:\n\ttouch "%s"\n' "$TRIP" > local.mk`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'one more script in a folder of which a hook runs all',
    before: sh`mkdir -p ci/parts; echo : > ci/parts/10-style
      printf '#!/bin/sh\nfor each in ci/parts/*; do . "./$each"; done\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "$bad" > ci/parts/20-more`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a line in the list of steps that a hook goes through',
    before: sh`mkdir ci; echo true > ci/steps
      printf '#!/bin/sh\nwhile read -r step; do sh -c "$step"; done < ci/steps\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "$bad" >> ci/steps`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a program in a folder that a hook puts first in the path',
    before: sh`mkdir -p dev; printf '#!/bin/sh\nPATH="$PWD/dev:$PATH"\nsed -n 1p file.txt\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`plant dev/sed`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a hook that the user had switched off, made to run',
    before: sh`printf '#!/bin/sh\ntouch "%s"\n' "$TRIP" > .git/hooks/pre-commit; chmod -x .git/hooks/pre-commit`,
    inside: sh`chmod +x .git/hooks/pre-commit`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a hook that is there only while the command runs',
    before: sh`meanwhile 'git commit -q --allow-empty -m more'`,
    inside: sh`plant .git/hooks/pre-commit; now; rm .git/hooks/pre-commit`,
    after: KEPT
  },
  {
    name: 'settings of a submodule that are there only while the command runs',
    before: sh`git init -q lib; git -C lib commit -q --allow-empty -m lib; git add lib 2> /dev/null; meanwhile 'git status --short'`,
    inside: sh`cp -p lib/.git/config was; evil lib/.git/config; now; cp -p was lib/.git/config`,
    after: KEPT
  },
  {
    name: 'the file to which .envrc is a link, changed only while the command runs',
    before: sh`mkdir env; echo : > env/dev.sh; ln -s env/dev.sh .envrc; meanwhile '. ./.envrc'`,
    inside: sh`echo "$bad" > env/dev.sh; now; echo : > env/dev.sh`,
    after: KEPT
  },
  {
    name: 'an included file that is changed only while the command runs',
    before: sh`git config -f team.cfg core.abbrev 9; git config include.path ../team.cfg; meanwhile 'git status --short'`,
    inside: sh`cp team.cfg was; evil team.cfg; now; cp was team.cfg`,
    after: KEPT
  },
  {
    name: 'what a command left that was killed',
    inside: sh`mkdir -p sub; echo "$bad" > sub/.envrc; kill -9 $$; sleep 1`,
    after: sh`cd sub; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a process that outlives the command and moves a folder',
    inside: sh`mkdir skeleton; echo folderOpen > skeleton/tasks.json
      (setsid bash -c 'trap "" HUP TERM; sleep 1; mv skeleton .vscode' < /dev/null > /dev/null 2>&1 &)`,
    after: sh`sleep 2; ! grep -qs folderOpen .vscode/tasks.json || touch "$TRIP"`
  },
  {
    name: 'a command that goes on after another one, and writes what that would have been stopped for',
    beside: sh`until [ -e go ]; do sleep 0.1; done; sleep 1; mkdir -p .vscode; cp file.txt .vscode/tasks.json; while :; do sleep 1; done`,
    inside: [sh`echo folderOpen > file.txt; touch go`, sh`sleep 2`],
    after: sh`! grep -qs folderOpen .vscode/tasks.json || touch "$TRIP"`
  },
  {
    name: 'a commit of one command, taken out by another that began before it and by one after it',
    beside: sh`until git rev-parse -q --verify refs/heads/evil; do sleep 0.1; done; git checkout -q evil -- .envrc; touch did
      while :; do sleep 1; done`,
    inside: [sh`echo "$bad" > .envrc; git add -f .envrc; rm .envrc
      git update-ref refs/heads/evil $(git commit-tree -m x $(git write-tree))`,
    sh`for n in $(seq 50); do [ -e did ] && break; sleep 0.1; done; git checkout -q evil -- .envrc`],
    after: SOURCED
  }
]
