import type { ObeyedWay } from '../obeyed-ways.ts'
import { sh } from './obeyed-ways-open.ts'

// Further ways, by kinds that the first ones have not: commits and what is staged, what hooks start in turn, names and folders that cannot
// be changed, states of stopped operations, links that lead out.

const EVIL_COMMIT = sh`echo "$bad" > .envrc; git add -f .envrc; git commit -qm evil; rm -f .envrc`

/** Each trips in a folder that nothing protects. */
export const WAYS: ObeyedWay[] = [
  {
    name: 'a file of a commit that an earlier command made',
    inside: [EVIL_COMMIT, sh`git checkout HEAD -- .envrc`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'the same, under a branch and a tag, packed',
    inside: [sh`git checkout -qb next; echo "$bad" > .envrc; git add -f .envrc; git commit -qm evil; git tag v1; git checkout -q main; git gc -q`,
      sh`git checkout -q v1`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'the same, fetched from a repository that a command made',
    inside: [sh`git clone -q . other; cd other; echo "$bad" > .envrc; git add -f .envrc; git commit -qm evil`,
      sh`git fetch -q other; git update-ref refs/heads/got FETCH_HEAD`, sh`git checkout -q got`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a commit of no branch, which a later command checks out',
    inside: [sh`echo "$bad" > .envrc; git add -f .envrc; git commit-tree -p HEAD -m evil $(git write-tree) > id`, sh`git checkout -q $(cat id)`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'an old commit replaced by another one',
    inside: sh`old=$(git rev-parse HEAD); echo "$bad" > .envrc; git add -f .envrc; git replace -f $old $(git commit-tree -m x $(git write-tree))`,
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a tree of an old commit written over',
    inside: sh`tree=$(git rev-parse 'HEAD^{tree}'); echo "$bad" > .envrc; git add -f .envrc; new=$(git write-tree)
      path() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
      chmod u+w $(path $tree); cp -f $(path $new) $(path $tree)`,
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a tree of an old commit written over by an earlier command',
    inside: [sh`tree=$(git rev-parse 'HEAD^{tree}'); echo "$bad" > .envrc; git add -f .envrc; new=$(git write-tree); rm .envrc
      path() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
      chmod u+w $(path $tree); cp -f $(path $new) $(path $tree)`, sh`git checkout HEAD -- .envrc`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a hidden graph of commits',
    inside: [EVIL_COMMIT, sh`git commit-graph write --reachable; git reset -q HEAD~1`, sh`git checkout HEAD@{1} -- .envrc`],
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'attributes that are staged alone',
    before: sh`git config -f "$own" filter.deploy.clean "touch '$TRIP'; cat"`,
    inside: sh`echo '* filter=deploy' > .gitattributes; git add .gitattributes; rm .gitattributes`,
    after: sh`export GIT_CONFIG_GLOBAL="$own"; edit; git add file.txt`
  },
  {
    name: 'attributes staged in another form of the index',
    before: sh`git config -f "$own" filter.deploy.clean "touch '$TRIP'; cat"`,
    inside: sh`mkdir a; echo x > a/x.txt; echo '* filter=deploy' > .gitattributes; git add .; rm .gitattributes
      git update-index --index-version 4; git update-index --split-index`,
    after: sh`export GIT_CONFIG_GLOBAL="$own"; edit; git add file.txt`
  },
  {
    name: 'a file that is staged and comes back with a checkout',
    inside: sh`id=$(echo "$bad" | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$id,.envrc`,
    after: sh`git checkout -q .; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'the library that the script of a hook reads',
    before: sh`mkdir scripts; printf '. scripts/lib\n' > scripts/check.sh; echo : > scripts/lib
      printf '#!/bin/sh\nsh scripts/check.sh\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "$bad" > scripts/lib`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a script without an ending that a hook gives to a shell',
    before: sh`mkdir ci; echo : > ci/check; printf '#!/bin/sh\nexec sh ci/check\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "$bad" > ci/check`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a script in a folder to which a hook goes first',
    before: sh`mkdir -p tools/lint; plant tools/lint/run; printf '#!/bin/sh\n:\n' > tools/lint/run
      printf '#!/bin/sh\ncd tools/lint && ./run\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant tools/lint/run`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a script in a folder that a variable of a hook names',
    before: sh`mkdir build-tools; plant build-tools/run.sh; printf '#!/bin/sh\n:\n' > build-tools/run.sh
      printf '#!/bin/sh\nDIR=build-tools\n"$DIR/run.sh"\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant build-tools/run.sh`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'the interpreter of a hook',
    before: sh`plant runner; printf '#!/bin/sh\n:\n' > runner; printf '#!./runner\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant runner`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'the script of a hook in another worktree',
    before: sh`mkdir scripts; printf ':\n' > scripts/check.sh; git add .; git commit -qm scripts
      printf '#!/bin/sh\nsh scripts/check.sh\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git worktree add -q wt -b side`,
    inside: sh`echo "$bad" > wt/scripts/check.sh`,
    after: sh`cd wt; edit; git commit -qam more`
  },
  {
    name: 'a program of the settings of another worktree',
    before: sh`git config extensions.worktreeConfig true; git worktree add -q wt -b side; plant wt/watch; printf '#!/bin/sh\n:\n' > wt/watch
      git -C wt config --worktree core.fsmonitor ./watch`,
    inside: sh`plant wt/watch`,
    after: sh`cd wt; git status --short`
  },
  {
    name: 'settings in the template of new repositories',
    before: sh`mkdir -p tpl/info; git config --global init.templateDir "$PWD/tpl"`,
    inside: sh`printf '[core]\n\tfsmonitor = "%s"\n' "$bad" > tpl/config`,
    after: sh`git init -q "$own"; git -C "$own" status --short`
  },
  {
    name: 'what entering the folder sources',
    before: sh`echo 'source ./env' > .envrc; echo : > env`,
    inside: sh`echo "$bad" > env`,
    after: sh`. ./.envrc`
  },
  {
    name: 'a program in a folder that entering adds to the path',
    before: sh`echo 'PATH_add dev-bin' > .envrc; mkdir dev-bin; plant dev-bin/tool; printf '#!/bin/sh\n:\n' > dev-bin/tool`,
    inside: sh`plant dev-bin/ls`,
    after: sh`PATH_add() { PATH="$PWD/$1:$PATH"; }; . ./.envrc; ls`
  },
  {
    name: 'what nix evaluates when the folder is entered',
    before: sh`echo 'use flake' > .envrc; echo '{ }' > flake.nix`,
    inside: sh`echo "evil" > flake.nix`,
    after: sh`! grep -q evil flake.nix || touch "$TRIP"`
  },
  {
    name: 'a folder that cannot be changed any more',
    inside: sh`mkdir sub; echo "$bad" > sub/.envrc; chmod 555 sub`,
    after: sh`cd sub; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a folder whose entries cannot be looked at',
    inside: sh`mkdir sub; echo "$bad" > sub/.envrc; chmod 600 sub`,
    after: sh`chmod 755 sub; cd sub; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'all other names taken',
    inside: sh`echo "$bad" > .envrc; touch .envrc.boxed; for n in $(seq 2 1100); do : > .envrc.boxed-$n; done`,
    after: sh`[ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a name that cannot be longer',
    inside: sh`echo evil > "$(printf 'x%.0s' $(seq 240)).code-workspace"`,
    after: sh`! grep -qs evil *.code-workspace || touch "$TRIP"`
  },
  {
    name: 'a strategy of a stopped rebase that is a path',
    before: sh`edit; git commit -qam more; edit; git commit -qam again; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~1`,
    inside: sh`plant evil.sh; mkdir git-merge-..; printf '../../evil.sh' > .git/rebase-merge/strategy; mv git-merge-.. 'git-merge-..x' 2> /dev/null
      mkdir -p git-merge-..; echo pick HEAD >> .git/rebase-merge/git-rebase-todo`,
    after: sh`! grep -qs evil .git/rebase-merge/strategy || touch "$TRIP"`
  },
  {
    name: 'a resolution of a conflict that git remembers',
    before: sh`git config rerere.enabled true; mkdir .git/rr-cache`,
    inside: sh`mkdir -p .git/rr-cache/0123456789012345678901234567890123456789; echo "$bad" > .git/rr-cache/0123456789012345678901234567890123456789/postimage`,
    after: sh`! ls .git/rr-cache/*/postimage > /dev/null 2>&1 || touch "$TRIP"`
  },
  {
    name: 'a branch whose name is a command for a careless prompt',
    inside: sh`cp .git/refs/heads/main '.git/refs/heads/$(touch$IFS$TRIP)'; echo 'ref: refs/heads/$(touch$IFS$TRIP)' > .git/HEAD`,
    after: sh`eval "echo $(git branch --show-current)"`
  },
  {
    name: 'a packed branch whose name is a command for a careless loop',
    inside: sh`git update-ref 'refs/heads/$(touch$IFS$TRIP)' HEAD; git pack-refs --all`,
    after: sh`for name in $(git for-each-ref --format='%(refname:short)' refs/heads); do eval "echo $name"; done`
  },
  {
    name: 'a file of the tree replaced by a link that leads out of it',
    inside: sh`rm file.txt; ln -s "$TRIP" file.txt`,
    after: sh`edit`
  },
  {
    name: 'a link that leads out of the folder through another one',
    inside: sh`ln -s . here; rm file.txt; ln -s here/../../outside/trip file.txt; ln -s .. up`,
    after: sh`edit`
  },
  {
    name: 'a program that others run with the rights of the user',
    inside: sh`cp /bin/true tool; chmod 4755 tool; python3 -c 'import os; os.close(os.open("tool2", os.O_CREAT | os.O_WRONLY, 0o4755))'`,
    after: sh`[ ! -u tool ] && [ ! -u tool2 ] || touch "$TRIP"`
  },
  {
    name: 'settings of other agents, editors and managers of hooks',
    inside: sh`for name in opencode.jsonc crush.json .rules .clinerules .gitpod.yml .direnv lefthook.toml mise.dev.toml x.sublime-project; do
      echo evil > $name; done; mkdir -p .github/instructions; echo evil > .github/instructions/x.md`,
    after: sh`! grep -qsr evil . --exclude='*.boxed' --exclude-dir='*.boxed' || touch "$TRIP"`
  },
  {
    name: 'a folder and a file whose names are other forms of obeyed ones',
    inside: sh`mkdir -p sub; printf evil > "sub/.envr$(printf '\342\200\213')c"; mkdir "sub/.vscode."; printf evil > "sub/.vscode./tasks.json"`,
    after: sh`for each in sub/.envr*c sub/.vscode.; do [ ! -e "$each" ] || touch "$TRIP"; done`
  },
  {
    name: 'an old file that git takes for another one',
    before: sh`echo ':' > .envrc; git add .; git commit -qm envrc; git checkout -q HEAD~1`,
    inside: sh`git replace $(git rev-parse main:.envrc) $(echo "$bad" | git hash-object -w --stdin)`,
    after: sh`git checkout -q main; . ./.envrc`
  },
  {
    name: 'a stash',
    inside: sh`echo "$bad" > .envrc; git stash push -qu`,
    after: sh`git stash pop; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a stash below another one',
    inside: sh`echo "$bad" > .envrc; git stash push -qu; edit; git stash push -q`,
    after: sh`git stash pop; git commit -qam one; git stash pop; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a commit that a stopped rebase brings',
    inside: sh`echo "$bad" > .envrc; git add -f .; git commit -qm evil; git tag evil; git reset -q --hard HEAD~1
      edit; git commit -qam two; GIT_SEQUENCE_EDITOR="sed -i '1s/.*/break/'" git rebase -i HEAD~1; git rev-parse evil; git tag -d evil
      echo pick $(git fsck --lost-found | sed -n 's/.*commit //p' | head -1) evil >> .git/rebase-merge/git-rebase-todo`,
    after: sh`git rebase --continue; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a commit to which a stopped rebase goes back',
    inside: sh`edit; git commit -qam two; GIT_SEQUENCE_EDITOR="sed -i '1s/.*/break/'" git rebase -i HEAD~1
      echo "$bad" > .envrc; git add -f .envrc; git commit-tree -p HEAD -m evil $(git write-tree) > .git/rebase-merge/orig-head; git reset -q --hard`,
    after: sh`git rebase --abort; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'changes that a stopped rebase puts back at its end',
    inside: sh`edit; git commit -qam two; GIT_SEQUENCE_EDITOR="sed -i '1s/.*/break/'" git rebase -i HEAD~1
      echo "$bad" > .envrc; git add -f .envrc; git stash create > .git/rebase-merge/autostash; git reset -q --hard`,
    after: sh`git rebase --continue; git rebase --quit; git stash pop; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a patch that a stopped git am applies next',
    before: sh`edit; git commit -qam two; echo x > x; git add .; git commit -qm x; git format-patch -q -2 -o "$own"; git reset -q --hard HEAD~2
      echo other > file.txt; git commit -qam other; git am "$own"/*`,
    inside: sh`printf 'diff --git a/.envrc b/.envrc\nnew file mode 100644\n--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+%s\n' "$bad" > .git/rebase-apply/0002
      echo evil > .git/rebase-apply/msg; cp .git/rebase-apply/0002 .git/rebase-apply/patch`,
    after: sh`git am --skip; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a script that comes with the installation which a hook starts',
    before: sh`echo '{ "name": "a" }' > package.json; printf '#!/bin/sh\nnpm install --offline\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant tool.sh; echo '{ "name": "a", "scripts": { "postinstall": "./tool.sh" } }' > package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a package in the folder that the installation of a hook brings',
    before: sh`echo '{ "name": "a" }' > package.json; printf '#!/bin/sh\nnpm install --offline\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`mkdir b; plant b/tool.sh; echo '{ "name": "b", "version": "1.0.0", "scripts": { "postinstall": "./tool.sh" } }' > b/package.json
      echo '{ "name": "a", "dependencies": { "b": "file:./b" } }' > package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a script that a hook runs if it is there',
    before: sh`mkdir web; echo '{ "scripts": { "test": "npm run lint --if-present" } }' > web/package.json
      printf '#!/bin/sh\ncd web && npm test --silent\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant web/tool.sh; echo '{ "scripts": { "test": "npm run lint --if-present", "lint": "./tool.sh" } }' > web/package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'the entry of a package that a hook starts',
    before: sh`echo '{ "main": "one.js" }' > package.json; echo > one.js; git add .; git commit -qm one
      printf '#!/bin/sh\nnode .\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "require('fs').writeFileSync('$TRIP', '')" > two.js; echo '{ "main": "two.js" }' > package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a name that the script of a hook imports through the package',
    before: sh`mkdir tools; echo '{ "imports": { "#log": "./log.mjs" } }' > package.json; echo > log.mjs; echo "import '#log'" > tools/check.mjs
      printf '#!/bin/sh\nnode tools/check.mjs\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`echo "import fs from 'node:fs'; fs.writeFileSync('$TRIP', '')" > new.mjs
      echo '{ "imports": { "#log": "./new.mjs" } }' > package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'the program of the package that a hook starts by its name',
    before: sh`echo '{ "name": "a", "bin": { "check": "./one.sh" } }' > package.json; printf '#!/bin/sh\n:\n' > one.sh; chmod +x one.sh
      printf '#!/bin/sh\nnpx --no-install check\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    inside: sh`plant two.sh; echo '{ "name": "a", "bin": { "check": "./two.sh" } }' > package.json`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'settings of npm that a hook starts',
    before: sh`echo '{ "scripts": { "test": "true" } }' > package.json; printf '#!/bin/sh\nnpm test --silent\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`plant shell.sh; echo "script-shell=$PWD/shell.sh" > .npmrc`,
    after: sh`edit; git commit -qam more`
  },
  {
    name: 'a list of commands in a folder below, for make',
    before: sh`mkdir sub; printf 'check:\n\ttrue\n' > sub/Makefile; printf '#!/bin/sh\nmake -C sub check\n' > .git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit`,
    inside: sh`plant sub/tool.sh; printf 'check:\n\t./tool.sh\n' > sub/Makefile`,
    after: sh`edit; git commit -qam more`
  }
]
