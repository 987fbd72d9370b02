import type { ObeyedWay } from '../obeyed-ways.ts'
import { sh as start } from './obeyed-ways-open.ts'
import { WAYS as OTHERS } from './obeyed-ways-fresh-held-2.ts'

// Ways written from the promise alone, by somebody who had not read the box: what git directories hold and name. The second file has those
// of names, places, links, hooks and time.

/**
 * `evil CONFIG` has settings of git trip at `git status`, `store FOLDER` makes a git directory that does, `calm FILE` makes a harmless
 * program, `submodule` a submodule `sub`.
 */
const sh = (script: TemplateStringsArray) => start`` + String.raw`
evil() { printf '[core]\n\tfsmonitor = "%s"\n' "$bad" >> "$1"; }
store() { git init -q --bare "$1"; git config -f "$1/config" core.bare false; evil "$1/config"; }
calm() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\n:\n' > "$1"; chmod +x "$1"; }
submodule() {
  git clone -q --bare . "$own"; git -c protocol.file.allow=always submodule --quiet add "$own" sub; git commit -qm sub
}
` + script.raw.join('')

/** Each trips in a folder that nothing protects. */
export const WAYS: ObeyedWay[] = [
  {
    name: 'a file that an included file includes in turn',
    before: sh`mkdir conf; git config -f conf/deep.cfg core.abbrev 9; git config -f conf/first.cfg include.path deep.cfg
      git config include.path ../conf/first.cfg`,
    inside: sh`evil conf/deep.cfg`,
    after: sh`git status --short`
  },
  {
    name: 'a file of the tree that settings include and that was missing',
    before: sh`git config include.path ../local.cfg`,
    inside: sh`evil local.cfg`,
    after: sh`git status --short`
  },
  {
    name: 'a file of the tree that the settings of the user include',
    before: sh`git config -f team.cfg core.abbrev 9; git config --global include.path "$PWD/team.cfg"`,
    inside: sh`evil team.cfg`,
    after: sh`git status --short`
  },
  {
    name: 'a file that is included on another branch only',
    before: sh`git config -f deploy.cfg core.abbrev 9; git config includeIf.onbranch:deploy.path ../deploy.cfg`,
    inside: sh`evil deploy.cfg`,
    after: sh`git checkout -q -b deploy; git status --short`
  },
  {
    name: 'hooks of another worktree, in a folder that the settings of the user name for all',
    before: sh`git config --global core.hooksPath ci/checks; git worktree add -q wt -b side`,
    inside: sh`plant wt/ci/checks/pre-commit`,
    after: sh`cd wt; git commit -q --allow-empty -m more`
  },
  {
    name: 'a file of the tree that settings name for attributes',
    before: sh`git config --global filter.deploy.clean "touch '$TRIP'; cat"; : > attributes
      git config --global core.attributesFile "$PWD/attributes"`,
    inside: sh`echo '*.txt filter=deploy' > attributes`,
    after: sh`edit; git add file.txt`
  },
  {
    name: 'attributes of a folder, with a filter of the repository',
    before: sh`git config filter.deploy.clean "touch '$TRIP'; cat"; mkdir sub; echo a > sub/a.txt; git add sub; git commit -qm sub`,
    inside: sh`echo '*.txt filter=deploy' > sub/.gitattributes`,
    after: sh`echo more >> sub/a.txt; git add sub/a.txt`
  },
  {
    name: 'the program of the tree that merges files of a kind',
    before: sh`calm tools/merge; git config merge.own.driver 'tools/merge %O %A %B'; echo '*.txt merge=own' > .gitattributes
      git add .; git commit -qm tools; git checkout -qb side; edit; git commit -qam side
      git checkout -q main; echo other > file.txt; git commit -qam main`,
    inside: sh`plant tools/merge`,
    after: sh`git merge -q side`
  },
  {
    name: 'a script without an ending that a filter gives to a shell',
    before: sh`mkdir tools; echo 'exec cat' > tools/smudge; git config filter.own.smudge 'sh ./tools/smudge %f'
      echo '*.txt filter=own' > .gitattributes`,
    inside: sh`echo "$bad" > tools/smudge`,
    after: sh`rm file.txt; git checkout -q file.txt`
  },
  {
    name: 'the script of an alias',
    before: sh`mkdir tools; echo : > tools/up; git config alias.up '!f() { sh ./tools/up "$@"; }; f'`,
    inside: sh`echo "$bad" > tools/up`,
    after: sh`git up`
  },
  {
    name: 'the program of the tree that fills in a trailer',
    before: sh`calm tools/sign; git config trailer.sign.cmd ./tools/sign`,
    inside: sh`plant tools/sign`,
    after: sh`git commit -q --allow-empty --trailer sign=Ada -m more`
  },
  {
    name: 'settings of the one worktree, which were missing',
    before: sh`git config extensions.worktreeConfig true`,
    inside: sh`evil .git/config.worktree`,
    after: sh`git status --short`
  },
  {
    name: 'a worktree written by hand, with settings of its own',
    before: sh`git config extensions.worktreeConfig true`,
    inside: sh`mkdir -p side .git/worktrees/side; cd .git/worktrees/side; echo ../.. > commondir; echo 'ref: refs/heads/main' > HEAD
      evil config.worktree; cd ../../..; echo "$PWD/side/.git" > .git/worktrees/side/gitdir
      echo 'gitdir: ../.git/worktrees/side' > side/.git`,
    after: sh`cd side; git status --short`
  },
  {
    name: 'the shared folder of a worktree of the user, set to another one',
    before: sh`git worktree add -q wt -b side`,
    inside: sh`cp -r .git .git/worktrees/wt/all; evil .git/worktrees/wt/all/config; echo all > .git/worktrees/wt/commondir`,
    after: sh`cd wt; git status --short`
  },
  {
    name: 'settings of a submodule of the user',
    before: sh`submodule`,
    inside: sh`evil .git/modules/sub/config`,
    after: sh`git status --short`
  },
  {
    name: 'a git directory laid out for a submodule that comes later',
    before: sh`submodule; rm -rf sub .git/modules; git config --remove-section submodule.sub; mkdir sub`,
    inside: sh`git init -q --bare .git/modules/sub; git -C .git/modules/sub config core.bare false
      git -C .git/modules/sub config core.worktree ../../../sub
      git push -q .git/modules/sub HEAD~1:refs/heads/main; plant .git/modules/sub/hooks/post-checkout`,
    after: sh`git -c protocol.file.allow=always submodule --quiet update --init`
  },
  {
    name: 'a hook of a bare repository of the user',
    before: sh`git clone -q --bare . backup.data`,
    inside: sh`plant backup.data/hooks/post-receive`,
    after: sh`git push -q ./backup.data HEAD:refs/heads/new`
  },
  {
    name: 'settings of a git directory that the user names in each command',
    before: sh`git init -q --bare .dotfiles`,
    inside: sh`evil .dotfiles/config`,
    after: sh`git --git-dir=.dotfiles --work-tree=. status --short`
  },
  {
    name: 'settings behind a git directory that is a link of the user',
    before: sh`mv .git repository.data; ln -s repository.data .git`,
    inside: sh`evil repository.data/config`,
    after: sh`git status --short`
  },
  {
    name: 'the file of the tree to which the settings are a link',
    before: sh`mv .git/config shared.cfg; ln -s ../shared.cfg .git/config`,
    inside: sh`evil shared.cfg`,
    after: sh`git status --short`
  },
  {
    name: 'a git directory among the objects of another one',
    inside: sh`store .git/objects/ab; mkdir lib; echo 'gitdir: ../.git/objects/ab' > lib/.git`,
    after: sh`cd lib; git status --short`
  },
  {
    name: 'a git directory among the branches, which a worktree of the user is led to',
    before: sh`git worktree add -q wt -b side`,
    inside: sh`cp -r .git all; mv all .git/refs/heads/all; evil .git/refs/heads/all/config
      echo ../../refs/heads/all > .git/worktrees/wt/commondir`,
    after: sh`cd wt; git status --short`
  },
  {
    name: 'a git directory of two files, with settings in a folder that is none',
    inside: sh`store parts; rm parts/HEAD; mkdir -p docs/.git; echo ../../parts > docs/.git/commondir
      echo 'ref: refs/heads/main' > docs/.git/HEAD`,
    after: sh`cd docs; git status --short`
  },
  {
    name: 'a bare repository in an ignored package, whose HEAD is a link that leads nowhere',
    before: sh`echo node_modules > .gitignore; mkdir -p node_modules/lib`,
    inside: sh`cd node_modules/lib; store .; git config -f config core.worktree "$PWD"; rm HEAD; ln -s refs/heads/gone HEAD`,
    after: sh`cd node_modules/lib; git status --short`
  },
  {
    name: 'a repository whose objects and branches are files',
    inside: sh`store docs; git config -f docs/config core.worktree "$PWD/docs"; git config -f docs/config alias.st "!$bad"
      cd docs; rm -rf objects refs hooks info; : > objects; : > refs; chmod +x objects refs`,
    after: sh`cd docs; git status --short; git st`
  },
  {
    name: 'a remote in the place where git had them before there were settings',
    inside: sh`git clone -q --bare . drop; mkdir .git/remotes
      printf 'URL: %s\nPull: refs/heads/main:refs/heads/theirs\n' "$PWD/drop" > .git/remotes/origin`,
    after: sh`git fetch -q origin && git rev-parse -q --verify refs/heads/theirs && touch "$TRIP"`
  },
  {
    name: 'the file that has a server of git show the repository',
    inside: sh`: > .git/git-daemon-export-ok`,
    after: sh`printf '0029git-upload-pack /.git\0host=localhost\0' > "$own"
      timeout 5 git daemon --inetd --base-path="$PWD" < "$own" | grep -aq refs/heads/main && touch "$TRIP"`
  },
  {
    name: 'a clone with settings that end in the middle of harmless ones',
    inside: sh`git clone -q . lib; cd lib; evil .git/config
      printf '[remote "origin"]\n\turl = "x\\n[core]\\n\\tfsmonitor = \\"%s\\"\\n"\n' "$bad" >> .git/config
      printf '[user]\n\tname = Ada \\\n\t[core]\n' >> .git/config
      printf '[branch "main\\"]\\n[core]"] merge = refs/heads/main\n' >> .git/config`,
    after: sh`cd lib; git status --short`
  },
  {
    name: 'a new repository with settings of its worktree',
    inside: sh`git init -q lib; git -C lib config extensions.worktreeConfig true; evil lib/.git/config.worktree`,
    after: sh`cd lib; git status --short`
  },
  {
    name: 'the short form of a program in the list of a rebase that the command began',
    before: sh`edit; git commit -qam more`,
    inside: sh`printf 'printf "break\\n \\tx touch %%s\\n" "%s" > "$1"\n' "$TRIP" > list
      GIT_SEQUENCE_EDITOR="sh '$PWD/list'" git rebase -q -i HEAD~1`,
    after: sh`git rebase --continue`
  },
  {
    name: 'the index as a link to a file outside',
    inside: sh`rm .git/index; ln -s "$TRIP" .git/index`,
    after: sh`edit; git add file.txt`
  },
  {
    name: 'the logs of branches as a link to a folder outside',
    inside: sh`rm -rf .git/logs/refs/heads; mkdir -p .git/logs/refs; ln -s "$(dirname "$TRIP")" .git/logs/refs/heads`,
    after: sh`git branch "$(basename "$TRIP")"`
  },
  {
    name: 'a link that is staged and comes back with a checkout',
    inside: sh`mkdir conf; echo folderOpen > conf/tasks.json
      git update-index --add --cacheinfo "120000,$(printf conf | git hash-object -w --stdin),.vscode"`,
    after: sh`git checkout -q .; ! grep -qs folderOpen .vscode/tasks.json || touch "$TRIP"`
  },
  {
    name: 'a file that is staged as the other side of a conflict',
    inside: sh`id=$(echo "$bad" | git hash-object -w --stdin); printf '100644 %s 3\t.envrc\n' $id | git update-index --index-info`,
    after: sh`git checkout -q --theirs -- .envrc; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a file that is staged in another worktree',
    before: sh`git worktree add -q wt -b side`,
    inside: sh`cd wt; git update-index --add --cacheinfo "100644,$(echo "$bad" | git hash-object -w --stdin),.envrc"`,
    after: sh`cd wt; git checkout -q .; [ ! -e .envrc ] || . ./.envrc`
  },
  {
    name: 'a folder that the index holds as one entry and leaves out',
    before: sh`mkdir a sub; echo a > a/a; echo b > sub/b; git add .; git commit -qm more; git sparse-checkout set --cone --sparse-index a`,
    inside: sh`export GIT_INDEX_FILE="$PWD/other"; git read-tree HEAD
      git update-index --add --cacheinfo "100644,$(echo "$bad" | git hash-object -w --stdin),sub/.envrc"; tree=$(git write-tree)
      unset GIT_INDEX_FILE; git checkout -q $(git commit-tree -m x $tree); git symbolic-ref HEAD refs/heads/main`,
    after: sh`git sparse-checkout disable; cd sub; [ ! -e .envrc ] || . ./.envrc`
  },
  ...OTHERS
]
