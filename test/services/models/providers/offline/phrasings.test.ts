import t from 'tap'
import { readSteps } from '../../../../../services/models/providers/offline/steps.ts'
import {
  calls,
  desktop,
  fetched,
  list,
  phrasings,
  read,
  remove,
  run,
  screenshot,
  search,
  searched,
  system,
  unread,
  write
} from './calls.ts'

phrasings({
  'any tool is used by its name and an input': [
    ['use echo with {"message": "hi"}', ['echo', { message: 'hi' }]],
    ['Please call the tool get-sum with the arguments {"a": 2, "b": 40}.', ['get-sum', { a: 2, b: 40 }]],
    ['invoke my_tool {}', ['my_tool', {}]],
    ['use the get-env tool', ['get-env', {}]],
    ['call tool __proto__', ['__proto__', {}]],
    ['use echo with {"message": "then delete a.txt; and \\"}\\" more"} then list here', ['echo', {
      message: 'then delete a.txt; and "}" more'
    }], list()],
    ['use `echo` with `{"message": "quoted"}`', ['echo', { message: 'quoted' }]],
    ['read a.txt, then use "echo" with input: {"nested": {"a": [1]}}', read('a.txt'), ['echo', { nested: { a: [1] } }]],
    ['use echo with {message: hi}', unread('use echo with {message: hi}')],
    ['call mom', unread('call mom')],
    ['call `date`', run('date')]
  ],
  'commands are run': [
    ['run `npm test`', run('npm test')],
    ['run "ls -la; pwd && echo \'hi\'"', run("ls -la; pwd && echo 'hi'")],
    ["run 'echo hello'", run('echo hello')],
    ['run the command ls -la', run('ls -la')],
    ['execute the shell command `git status`', run('git status')],
    ['run the following command: date', run('date')],
    ['run: date +%s', run('date +%s')],
    ['run git status', run('git status')],
    ['run echo a; echo b', run('echo a; echo b')],
    ['run if true; then echo a; fi', run('if true; then echo a; fi')],
    ['run cat x.txt | grep "a b" && ls .', run('cat x.txt | grep "a b" && ls .')],
    ['run make and make install', run('make and make install')],
    ['run `ls` in the terminal', run('ls')],
    ['run `ls` in src', run('ls', 'src')],
    ['run `a` and `b`', run('a'), run('b')],
    ['run curl http://localhost:1/x;y', run('curl http://localhost:1/x;y')],
    ['$ uname -a', run('uname -a')],
    ['run ```\nls\npwd\n```', run('ls\npwd\n')]
  ],
  'the web is read': [
    ['fetch https://example.com', fetched('https://example.com')],
    ['fetch https://example.com/a?b=c&d=1,2;3#x.', fetched('https://example.com/a?b=c&d=1,2;3#x')],
    ['get the page at http://127.0.0.1:8080/x', fetched('http://127.0.0.1:8080/x')],
    ['open https://en.wikipedia.org/wiki/Tap_(valve)', fetched('https://en.wikipedia.org/wiki/Tap_(valve)')],
    ['download "https://example.com/a b.txt"', unread('download "https://example.com/a b.txt"')],
    ['read https://example.com and tell me what it says', fetched('https://example.com')],
    ['fetch example.com', fetched('https://example.com')],
    ['search the web for local-first software', search('local-first software')],
    ['search for cats and dogs', search('cats and dogs')],
    ['search for "exact words"', search('exact words')],
    ["search for 'oldName(' in src", searched('oldName(', 'src')],
    ['find "a b" in the files', searched('a b')],
    ['web search: fastify plugins', search('fastify plugins')],
    ['look up the weather in Paris on the internet', search('the weather in Paris')],
    ['google node 24 features', search('node 24 features')],
    ['search for how to read files and write tests', search('how to read files and write tests')]
  ],
  'the machine is looked at': [
    ['system info', system],
    ['Show me the system information', system],
    ['what system is this?', system],
    ['What operating system am I running on?', system],
    ['how much memory is free?', system],
    ['take a screenshot', screenshot],
    ['Take a screenshot of my screen, please.', screenshot],
    ['screenshot', screenshot],
    ["what's on my screen?", screenshot]
  ],
  'the desktop is used': [
    ['click at 10, 20', desktop('click', { x: 10, y: 20 })],
    ['Please double click at (10, 20).', desktop('click', { x: 10, y: 20, double: true })],
    ['right-click on 10 20', desktop('click', { x: 10, y: 20, button: 'right' })],
    ["type 'x'", desktop('type', { text: 'x' })],
    ['press enter', desktop('type', { keys: 'enter' })],
    ['press the page down key', desktop('type', { keys: 'pagedown' })],
    ['hit Ctrl + Shift + T.', desktop('type', { keys: 'ctrl+shift+t' })],
    ['press the button', unread('press the button')],
    ['scroll down', desktop('scroll', { direction: 'down' })],
    ['scroll up by 5', desktop('scroll', { direction: 'up', amount: 5 })],
    [
      "take a screenshot, then click at 10, 20 and type 'cats, dogs' then press enter, scroll down",
      screenshot,
      desktop('click', { x: 10, y: 20 }),
      desktop('type', { text: 'cats, dogs' }),
      desktop('type', { keys: 'enter' }),
      desktop('scroll', { direction: 'down' })
    ]
  ],
  'commands are joined': [
    ['list the files in src then read a.txt', list('src'), read('a.txt')],
    ['list the files in src, then read a.txt, and then delete b.txt', list('src'), read('a.txt'), remove('b.txt')],
    ['list src; read a.txt;delete b.txt', list('src'), read('a.txt'), remove('b.txt')],
    ['list the files\nread a.txt\n\nrun `ls`', list(), read('a.txt'), run('ls')],
    ['1. list the files\n2. read a.txt\n3) run `ls`', list(), read('a.txt'), run('ls')],
    ['- list the files\n* read a.txt\n• run `ls`', list(), read('a.txt'), run('ls')],
    ['1) list the files 2) read a.txt', list(), read('a.txt')],
    ['List the files. Read a.txt. Then run `ls`.', list(), read('a.txt'), run('ls')],
    ['list the files and read a.txt and run `ls`', list(), read('a.txt'), run('ls')],
    ['list the files, read a.txt, and run `ls`', list(), read('a.txt'), run('ls')],
    ['First list the files, after that read a.txt, finally delete it', list(), read('a.txt'), remove('a.txt')],
    ["write 'hello' to a.txt and read it back", write('a.txt', 'hello'), read('a.txt')],
    ["create a file a.txt with 'x', then show me its contents, then remove it", write('a.txt', 'x'), read('a.txt'), remove('a.txt')],
    [
      "Please write 'x; y' to 'my file.txt'; then run `cat 'my file.txt'` and tell me the output",
      write('my file.txt', 'x; y'),
      run("cat 'my file.txt'")
    ],
    ['read a.txt then b.txt', read('a.txt'), read('b.txt')],
    ['take a screenshot and then system info', screenshot, system],
    ['run ls -la, then read a.txt', run('ls -la'), read('a.txt')],
    ['run echo hi and then list the files', run('echo hi'), list()],
    ['Hello! Could you list the files in src? Thanks!', list('src')],
    ["fetch https://example.com, then write 'done' to log.txt", fetched('https://example.com'), write('log.txt', 'done')],
    ['Every morning, read news.txt', read('news.txt')],
    ['Step 1: list the files. Step 2: read a.txt.', list(), read('a.txt')],
    ['search for cats, then list the files', search('cats'), list()],
    ["list the files in 'my dir', then read a.txt from that folder", list('my dir'), read('my dir/a.txt')],
    ['list src and read a.txt there', list('src'), read('src/a.txt')],
    ["write 'x' to a.txt, list src, then delete it", write('a.txt', 'x'), list('src'), remove('a.txt')],
    ['read a.txt, then delete that folder', read('a.txt'), unread('delete that folder')],
    ['delete the files a.txt, b.txt and then list the files and tell me how many there are', remove('a.txt'), remove('b.txt'), list()],
    ['list the files then dance', list(), unread('dance')]
  ],
  'what is no plain command is left alone': [
    ["don't delete a.txt", unread("don't delete a.txt")],
    ['if a.txt exists then delete it', unread('if a.txt exists then delete it')],
    ['if a.txt exists, delete it', unread('if a.txt exists, delete it')],
    ['do not read a.txt and delete b.txt', unread('do not read a.txt and delete b.txt')],
    ['delete a.txt if it is empty', unread('delete a.txt if it is empty')],
    ['delete it', unread('delete it')],
    ['delete everything', unread('delete everything')],
    ['delete the folder', unread('delete the folder')],
    ['run the tests', unread('run the tests')],
    ['search the files for TODO', unread('search the files for TODO')],
    ['What is the meaning of life?', unread('What is the meaning of life?')],
    ['write a poem about the sea', unread('write a poem about the sea')],
    ['create a folder x', unread('create a folder x')],
    ["append 'x' to a.txt", unread("append 'x' to a.txt")],
    ['hello'],
    ['thank you!'],
    ['be brief'],
    ['Keep it short, please.'],
    ['']
  ]
})

t.test('a message far too long for a command is read in no time and is none', async (t) => {
  const message = 'read a and then '.repeat(50_000)
  t.strictSame(calls(message), [unread(message)])
})

t.test('a long text in quotes is written as a whole', async (t) => {
  const text = 'He said "list here, then delete a.txt"; it is `code`.\n'.repeat(1_000)
  t.strictSame(calls(`write '${text}' to a.txt, then read a.txt`), [write('a.txt', text), read('a.txt')])
})

t.test('long messages that try the patterns are read in little time', async (t) => {
  const before = process.cpuUsage()
  const parts = [
    'read the ',
    'write a to ',
    'show me what is in ',
    'and ',
    'delete all the files in ',
    "'",
    '"',
    '”',
    "\\'",
    '`',
    ' ',
    ', ',
    '. ',
    'a.b ',
    'run x; '
  ]
  for (const part of parts) {
    for (const length of [990, 3_900, 19_900]) readSteps(`write ${part.repeat(Math.ceil(length / part.length))}x`)
  }
  const { user } = process.cpuUsage(before)
  t.ok(user < 5_000_000, `${user / 1_000} ms of CPU`)
})

phrasings({
  'folders are listed': [
    ['list the files in src', list('src')],
    ['List files', list()],
    ['list', list()],
    ['ls', list()],
    ['ls -la src', list('src')],
    ['list here', list()],
    ['list the files here', list()],
    ['list the files here, then write "hello" to notes.txt', list(), write('notes.txt', 'hello')],
    ['List all files right here.', list()],
    ['show me the files here', list()],
    ['which files are here?', list()],
    ['list all files and folders in the current directory', list()],
    ['LIST THE FILES IN Docs/', list('Docs/')],
    ['list the contents of the folder "my docs"', list('my docs')],
    ['list the directory /var/log.', list('/var/log')],
    ['list the src folder', list('src')],
    ['list everything in this folder', list()],
    ['list ..', list('..')],
    ['list the files in ../other', list('../other')],
    ['list ./a/../b', list('./a/../b')],
    ['what files are in src?', list('src')],
    ['Which files are there?', list()],
    ['what is in the folder docs?', list('docs')],
    ["what's in here?", list()],
    ['show me the files in the src directory', list('src')],
    ['show me all the files', list()],
    ['show me what is in the current directory', list()],
    ['show the folder src/lib', list('src/lib')],
    ['Can you tell me what files are in the workspace?', list()],
    ['list src and docs', list('src'), list('docs')],
    ['list the files in the über-ordner', list('über-ordner')],
    ['list ~/Downloads', list('~/Downloads')],
    ['list files in `weird; name`', list('weird; name')],
    ['make a directory listing of src', list('src')],
    ['explore the lib directory', list('lib')],
    ['give me a list of the files in test', list('test')]
  ],
  'files are read': [
    ['read notes.txt', read('notes.txt')],
    ['read the file notes.txt', read('notes.txt')],
    ['Read "my notes.txt"!', read('my notes.txt')],
    ['read ‘a file.md’', read('a file.md')],
    ['read “a file.md”.', read('a file.md')],
    ['READ README', read('README')],
    ['show me src/index.ts', read('src/index.ts')],
    ['show me the contents of package.json', read('package.json')],
    ['show me the file called Makefile', read('Makefile')],
    ['open .env', read('.env')],
    ['cat /etc/hosts', read('/etc/hosts')],
    ["what's in notes.txt?", read('notes.txt')],
    ['what does config.json contain?', read('config.json')],
    ['tell me what todo.md says', read('todo.md')],
    ['print the content of the file a.b.c', read('a.b.c')],
    ['display данные.txt please', read('данные.txt')],
    ['read notes.txt in docs', read('docs/notes.txt')],
    ['read notes.txt from the folder "my docs"', read('my docs/notes.txt')],
    ['read ../up.txt', read('../up.txt')],
    ['read meeting notes.txt', read('meeting notes.txt')],
    ['read C:\\Users\\me\\a.txt', read('C:\\Users\\me\\a.txt')],
    ['could you please read `notes.txt` for me?', read('notes.txt')],
    ['read a.txt, b.txt and c.txt', read('a.txt'), read('b.txt'), read('c.txt')],
    ['read "a and b.txt" and \'c, d.txt\'', read('a and b.txt'), read('c, d.txt')],
    ['what are the contents of notes.txt', read('notes.txt')],
    ["read bobs'.txt then read jims'.txt", read("bobs'.txt"), read("jims'.txt")],
    ["read 'a.txt' then read \uE0000\uE001", read('a.txt'), read('\uE0000\uE001')],
    ['read the first 10 lines of log.txt', read('log.txt')],
    ['view docs/a-b_c.md', read('docs/a-b_c.md')],
    ["I'd like you to read notes.txt", read('notes.txt')]
  ],
  'files are written': [
    ["write 'hello' to notes.txt", write('notes.txt', 'hello')],
    ['write "hello" to notes.txt', write('notes.txt', 'hello')],
    ['Write “hello” into the file notes.txt.', write('notes.txt', 'hello')],
    ['write `a = 1; b = 2` to x.js', write('x.js', 'a = 1; b = 2')],
    ["write 'read x then delete y, and run z' to plan.txt", write('plan.txt', 'read x then delete y, and run z')],
    ["write 'it's fine' to a.txt", write('a.txt', "it's fine")],
    ['write "say \\"hi\\" to me" to a.txt', write('a.txt', 'say "hi" to me')],
    ['write \'{"a": 1}\' to data.json', write('data.json', '{"a": 1}')],
    ['write {"a": [1, 2]} to data.json', write('data.json', '{"a": [1, 2]}')],
    ['write hello world to notes.txt', write('notes.txt', 'hello world')],
    ['write buy milk and read a book to todo.txt', write('todo.txt', 'buy milk and read a book')],
    ['write to notes.txt: hello world', write('notes.txt', 'hello world')],
    ["write the text 'x' in the file a.txt", write('a.txt', 'x')],
    ["write in a.txt the text 'x'", write('a.txt', 'x')],
    ["create notes.txt with the content 'hello'", write('notes.txt', 'hello')],
    ['create a file named "my notes.txt" with content "x"', write('my notes.txt', 'x')],
    ['create a new file called hello.txt that says Hello World', write('hello.txt', 'Hello World')],
    ["create a file src/a.ts containing 'export {}'", write('src/a.ts', 'export {}')],
    ['make a file a.txt with "b"', write('a.txt', 'b')],
    ['create an empty file empty.txt', write('empty.txt', '')],
    ["write '' to empty.txt", write('empty.txt', '')],
    ["save 'x' as y.txt", write('y.txt', 'x')],
    ["save 'x' in 'out dir/y.txt'", write('out dir/y.txt', 'x')],
    ["put the text 'x' in the file y.txt", write('y.txt', 'x')],
    ["overwrite y.txt with 'x'", write('y.txt', 'x')],
    ["write 'x' to a.txt in docs", write('docs/a.txt', 'x')],
    ["write notes.txt with the text 'x'", write('notes.txt', 'x')],
    ["write 'a' to x.txt and 'b' to y.txt", write('x.txt', 'a'), write('y.txt', 'b')],
    ['create hello.py with the content:\n```python\nprint(1)\n\nprint(2)\n```', write('hello.py', 'print(1)\n\nprint(2)\n')],
    ['write the following to "poem.txt": \'roses; are red, then violets\'', write('poem.txt', 'roses; are red, then violets')],
    ["write 'two\nlines' to a.txt", write('a.txt', 'two\nlines')],
    ['write to list.txt:\nfirst line\nsecond line', write('list.txt', 'first line\nsecond line')],
    ["write 'C:\\dir\\' to 'a b'", write('a b', 'C:\\dir\\')]
  ],
  'files are deleted': [
    ['delete notes.txt', remove('notes.txt')],
    ['remove the file "a b.txt"', remove('a b.txt')],
    ['please erase tmp/x.log.', remove('tmp/x.log')],
    ['rm a.txt', remove('a.txt')],
    ['rm -rf build', remove('build', true)],
    ['delete the folder build', remove('build')],
    ['delete the folder build with everything in it', remove('build', true)],
    ['delete the directory build and everything in it', remove('build', true)],
    ['delete build recursively', remove('build', true)],
    ['remove the folder "old stuff" and all its contents', remove('old stuff', true)],
    ['delete a.txt and b.txt', remove('a.txt'), remove('b.txt')]
  ]
})
