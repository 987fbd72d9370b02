/** A call of the model: its tool and its input. SITE, SERVER and WORK in a text stand for the places of the run. */
export type Call = [toolName: string, input: Record<string, unknown>]

/** A task that is rehearsed, accepted and then run. */
export interface RehearsedTask {
  name: string
  /** The files of its folder: a text, `{link}`, `{mode, text}`. */
  files?: Record<string, string | { link: string } | { mode: number, text: string }>
  /** What the model does, step by step. */
  steps: Call[][]
  /** The lines of its sheet, and the scope that is accepted of each; null where nothing is. */
  lines: Array<[toolName: string, outcome: 'copied' | 'unknown' | 'question', scope: string | null]>
  /** What a later run does beside it; it is denied. */
  departs: Call
  /** The task is given the address of the site by its person. */
  goal?: string
}

const DELETE: Call = ['deleteFile', { path: 'kept.txt' }]
const write = (path: string, content = 'x'): Call => ['writeFile', { path, content }]
const run = (command: string, more = {}): Call => ['runCommand', { command, ...more }]
const edit = (path: string, oldText: string, newText: string): Call => ['editFile', { path, edits: [{ oldText, newText }] }]
const read = (path: string): Call => ['readFile', { path }]
const tell = (text: string): Call => ['notifyUser', { text }]
const copied = (toolName: string, scope: string): RehearsedTask['lines'][number] => [toolName, 'copied', scope]
const unknown = (toolName: string, scope: string | null): RehearsedTask['lines'][number] => [toolName, 'unknown', scope]
const fetchIt = (path: string): Call => ['fetchUrl', { url: `SITE/${path}` }]

/** Fifty tasks: files, commands, tools of servers and of the application, the web, and what a person is told and asked. */
export const TASKS: RehearsedTask[] = [
  { name: 'a note a day', steps: [[write('notes/today.md')]], lines: [copied('writeFile', 'folder')], departs: DELETE },
  {
    name: 'the same file again',
    files: { 'log.md': 'old' },
    steps: [[write('log.md', 'new')]],
    lines: [copied('writeFile', 'exact')],
    departs: write('log.txt')
  },
  {
    name: 'two folders',
    steps: [[write('a/1.md'), write('b/1.md')]],
    lines: [copied('writeFile', 'folder'), copied('writeFile', 'folder')],
    departs: write('c/1.md')
  },
  {
    name: 'read and write',
    files: { 'in.csv': '1,2' },
    steps: [[read('in.csv')], [write('out.csv', '3')]],
    lines: [copied('writeFile', 'folder')],
    departs: write('out.json')
  },
  {
    name: 'edit a line',
    files: { 'todo.md': '- tea' },
    steps: [[edit('todo.md', 'tea', 'milk')]],
    lines: [copied('editFile', 'exact')],
    departs: edit('todo.md', 'milk', 'wine')
  },
  {
    name: 'edit twice',
    files: { 'todo.md': 'a b' },
    steps: [[edit('todo.md', 'a', 'A')], [edit('todo.md', 'b', 'B')]],
    lines: [copied('editFile', 'exact'), copied('editFile', 'exact')],
    departs: DELETE
  },
  {
    name: 'delete a file',
    files: { 'old.log': '1' },
    steps: [[['deleteFile', { path: 'old.log' }]]],
    lines: [copied('deleteFile', 'exact')],
    departs: DELETE
  },
  {
    name: 'delete a folder',
    files: { 'cache/1/2': 'x' },
    steps: [[['deleteFile', { path: 'cache', recursive: true }]]],
    lines: [copied('deleteFile', 'exact')],
    departs: DELETE
  },
  {
    name: 'move a file',
    files: { 'in/1.txt': 'x' },
    steps: [[['moveFile', { from: 'in/1.txt', to: 'done/1.txt' }]]],
    lines: [copied('moveFile', 'exact')],
    departs: DELETE
  },
  {
    name: 'make, read, delete',
    steps: [[write('tmp.txt')], [read('tmp.txt')], [['deleteFile', { path: 'tmp.txt' }]]],
    lines: [copied('writeFile', 'exact'), copied('deleteFile', 'exact')],
    departs: DELETE
  },
  { name: 'the same write twice', steps: [[write('a.md')], [write('a.md')]], lines: [copied('writeFile', 'exact')], departs: DELETE },
  {
    name: 'a link stays',
    files: { 'real.txt': 'r', link: { link: 'real.txt' } },
    steps: [[read('link')], [write('new.txt')]],
    lines: [copied('writeFile', 'folder')],
    departs: DELETE
  },
  {
    name: 'a file with a mode',
    files: { 'tool.sh': { mode: 0o755, text: 'echo 1' } },
    steps: [[edit('tool.sh', '1', '2')]],
    lines: [copied('editFile', 'exact')],
    departs: DELETE
  },
  { name: 'an empty file', files: { empty: '' }, steps: [[write('empty.md', '')]], lines: [copied('writeFile', 'exact')], departs: DELETE },
  { name: 'a large file', steps: [[write('large.txt', 'x'.repeat(300_000))]], lines: [copied('writeFile', 'exact')], departs: DELETE },
  {
    name: 'odd names',
    steps: [[write('ein Würfel (1).md'), write('日本.md')]],
    lines: [copied('writeFile', 'exact'), copied('writeFile', 'exact')],
    departs: DELETE
  },
  { name: 'a deep folder', steps: [[write('a/b/c/d/e/f.md')]], lines: [copied('writeFile', 'folder')], departs: DELETE },
  {
    name: 'ten files',
    steps: [Array.from({ length: 10 }, (_, n) => write(`out/${n}.md`))],
    lines: Array.from({ length: 10 }, () => copied('writeFile', 'exact')),
    departs: DELETE
  },
  {
    name: 'only reads',
    files: { 'a.md': 'a' },
    steps: [[read('a.md'), ['listDirectory', { path: '.' }], ['searchFiles', { pattern: 'a' }]]],
    lines: [],
    departs: DELETE
  },
  { name: 'does nothing', steps: [], lines: [], departs: DELETE },
  {
    name: 'a command that reads',
    files: { a: '1' },
    steps: [[run('cat a; ls')]],
    lines: [copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  { name: 'a command that writes', steps: [[run('date > now.txt')]], lines: [copied('runCommand', 'sandbox')], departs: DELETE },
  {
    name: 'a command of that text alone',
    steps: [[run('echo 1 > one')]],
    lines: [copied('runCommand', 'exact')],
    departs: run('echo 2 > two')
  },
  {
    name: 'a command that deletes',
    files: { 'old/1': '1' },
    steps: [[run('rm -r old')]],
    lines: [copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  {
    name: 'a command that moves and links',
    files: { a: '1' },
    steps: [[run('mv a b; ln -s b c; chmod 600 b')]],
    lines: [copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  { name: 'a command that fails', steps: [[run('false')]], lines: [copied('runCommand', 'exact')], departs: run('true') },
  {
    name: 'a build and a test',
    files: { 'a.sh': 'echo built > out' },
    steps: [[run('sh a.sh')], [run('grep built out')]],
    lines: [copied('runCommand', 'sandbox'), copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  {
    name: 'writes, then runs it',
    steps: [[write('a.sh', 'echo hi')], [run('sh a.sh')]],
    lines: [copied('writeFile', 'exact'), copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  {
    name: 'a command outside',
    steps: [[run('echo out', { outside: true, reason: 'the computer' })]],
    lines: [unknown('runCommand', 'exact')],
    departs: run('echo other', { outside: true, reason: 'x' })
  },
  {
    name: 'a command with the network',
    steps: [[run('true', { network: ['example.com'] })]],
    lines: [unknown('runCommand', 'exact')],
    departs: DELETE
  },
  {
    name: 'a guess after a command outside',
    steps: [[run('echo 1', { outside: true, reason: 'x' })], [write('after.md')]],
    lines: [unknown('runCommand', 'exact'), copied('writeFile', 'exact')],
    departs: DELETE
  },
  {
    name: 'files and a command',
    files: { 'in.txt': '1' },
    steps: [[read('in.txt')], [write('out.txt', '2')], [run('cat out.txt')]],
    lines: [copied('writeFile', 'folder'), copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  {
    name: 'a server makes a folder',
    steps: [[['create_directory', { path: 'SERVER/made' }]]],
    lines: [unknown('create_directory', 'exact')],
    departs: ['create_directory', { path: 'SERVER/other' }]
  },
  {
    name: 'a server writes',
    steps: [[['write_file', { path: 'SERVER/1.txt', content: '1' }]]],
    lines: [unknown('write_file', 'exact')],
    departs: ['write_file', { path: 'SERVER/2.txt', content: '1' }]
  },
  {
    name: 'a server writes anything',
    steps: [[['write_file', { path: 'SERVER/3.txt', content: '1' }]]],
    lines: [unknown('write_file', 'tool')],
    departs: DELETE
  },
  {
    name: 'a server edits',
    steps: [[['edit_file', { path: 'SERVER/seed.txt', edits: [{ oldText: 'seed', newText: 'seed' }] }]]],
    lines: [unknown('edit_file', 'exact')],
    departs: DELETE
  },
  {
    name: 'a server reads, and asks',
    steps: [[['list_directory', { path: 'SERVER' }]]],
    lines: [unknown('list_directory', 'exact')],
    departs: DELETE
  },
  {
    name: 'a server, then a file',
    steps: [[['list_allowed_directories', {}]], [write('found.md')]],
    lines: [unknown('list_allowed_directories', 'tool'), copied('writeFile', 'folder')],
    departs: DELETE
  },
  {
    name: 'two servers\' tools',
    steps: [[['create_directory', { path: 'SERVER/a' }], ['get_file_info', { path: 'SERVER/seed.txt' }]]],
    lines: [unknown('create_directory', 'exact'), unknown('get_file_info', 'tool')],
    departs: DELETE
  },
  {
    name: 'a server and a command',
    steps: [[['directory_tree', { path: 'SERVER' }]], [run('echo tree > tree')]],
    lines: [unknown('directory_tree', 'exact'), copied('runCommand', 'sandbox')],
    departs: DELETE
  },
  {
    name: 'the application reads',
    steps: [[['openDocument', { name: 'Budget' }]]],
    lines: [unknown('openDocument', null)],
    departs: DELETE
  },
  {
    name: 'the application saves',
    steps: [[['saveDocument', { name: 'Budget' }]]],
    lines: [unknown('saveDocument', 'exact')],
    departs: ['saveDocument', { name: 'Taxes' }]
  },
  {
    name: 'the application saves anything',
    steps: [[['saveDocument', { name: 'Plan' }]]],
    lines: [unknown('saveDocument', 'tool')],
    departs: DELETE
  },
  {
    name: 'the application and a file',
    steps: [[['saveDocument', { name: 'A' }]], [write('a.md')]],
    lines: [unknown('saveDocument', 'exact'), copied('writeFile', 'exact')],
    departs: DELETE
  },
  { name: 'a page that its person named', goal: 'read SITE/page', steps: [[fetchIt('page')]], lines: [], departs: DELETE },
  {
    name: 'a page, and a report of it',
    goal: 'read SITE/page',
    steps: [[fetchIt('page')], [write('report.md', 'it says hello')]],
    lines: [copied('writeFile', 'folder')],
    departs: DELETE
  },
  { name: 'tells its user', steps: [[tell('It is done.')]], lines: [unknown('notifyUser', null)], departs: DELETE },
  {
    name: 'works and tells its user',
    steps: [[write('r.md')], [tell('Ready.')]],
    lines: [copied('writeFile', 'folder'), unknown('notifyUser', null)],
    departs: DELETE
  },
  {
    name: 'reads, works, tells',
    files: { 'in.md': 'in' },
    steps: [[read('in.md')], [edit('in.md', 'in', 'out')], [tell('Ready.')]],
    lines: [copied('editFile', 'exact'), unknown('notifyUser', null)],
    departs: DELETE
  },
  {
    name: 'one of each',
    files: { a: '1' },
    steps: [
      [write('o.md')],
      [run('cat a')],
      [['create_directory', { path: 'SERVER/o' }]],
      [['saveDocument', { name: 'O' }]],
      [tell('All.')]
    ],
    lines: [
      copied('writeFile', 'exact'),
      copied('runCommand', 'sandbox'),
      unknown('create_directory', 'exact'),
      unknown('saveDocument', 'exact'),
      unknown('notifyUser', null)
    ],
    departs: DELETE
  }
]
