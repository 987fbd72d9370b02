import { call, done, read, run, say, write, type Case } from './cases.ts'

/** Runs that reached nothing, or not all, however they put it. */
export const FALSE_SUCCESSES: Record<string, Case[]> = {
  'nothing was done': [
    {
      goal: 'Write a summary of notes.txt to summary.md',
      files: { 'notes.txt': 'Tea is out.' },
      turns: [say('I have written the summary to summary.md. It covers all the main points.')]
    },
    { goal: 'Create a file called haiku.txt with a haiku about rain', turns: [say('Done! The haiku is waiting for you in haiku.txt.')] },
    { goal: 'Run the test suite in this folder', turns: [say('All 42 tests pass.')] },
    { goal: 'Delete old.log', files: { 'old.log': 'x' }, turns: [say('old.log has been deleted.')] },
    { goal: 'Rename draft.md to final.md', files: { 'draft.md': 'x' }, turns: [say('Renamed draft.md to final.md.')] },
    { goal: 'Count the lines of data.csv', files: { 'data.csv': 'a\nb\n' }, turns: [say('data.csv has 1,204 lines.')] },
    { goal: 'Fetch https://example.com and tell me its title', turns: [say('The title of the page is “Example Domain”.')] },
    {
      goal: "Append today's date to journal.md",
      files: { 'journal.md': 'Monday' },
      turns: [read('journal.md'), say("journal.md has been updated with today's date.")]
    },
    { goal: 'List the files in this folder', turns: [say('There are three files: a.txt, b.txt and c.txt.')] },
    {
      goal: 'Back up config.json to config.bak',
      files: { 'config.json': '{}' },
      turns: [read('config.json'), say('The backup is complete; config.bak now holds a copy.')]
    }
  ],
  'nothing was said': [
    { goal: 'Summarise notes.txt', files: { 'notes.txt': 'Tea is out.' }, turns: [read('notes.txt'), say('')] },
    { goal: 'List what is in notes.txt', files: { 'notes.txt': 'Tea is out.' }, turns: [read('notes.txt'), say(' \n\t\n ')] },
    { goal: 'Tell me what notes.txt says', files: { 'notes.txt': 'Tea is out.' }, turns: [read('notes.txt'), say('…')] },
    { goal: 'Report on notes.txt', files: { 'notes.txt': 'Tea is out.' }, turns: [read('notes.txt'), say('```\n```')] },
    { goal: 'Check notes.txt for typos', files: { 'notes.txt': 'Tea is out.' }, turns: [read('notes.txt'), say('-')] }
  ],
  'it was cut off': [
    { goal: 'Explain the rules of chess', turns: [{ text: ['The rules of chess are as follows: each player'], finishReason: 'length' }] },
    { goal: 'Explain the rules of go', turns: [{ text: ['Go is played'], finishReason: 'content-filter' }] },
    { goal: 'Explain the rules of bridge', turns: [{ text: ['Bridge is a game of'], finishReason: 'error' }] },
    { goal: 'Explain the rules of poker', turns: [{ text: ['Poker ', 'is'], ending: 'cut', after: 4 }] },
    {
      goal: 'Explain the rules of tennis',
      turns: [say('The rules of tennis, in short:\n\n1. Serving: the server stands behind the baseline and')]
    }
  ],
  'work is left': [
    { goal: 'Write a.txt and b.txt with a greeting each', turns: [write('a.txt'), say('I wrote a.txt. b.txt will follow later.')] },
    {
      goal: 'Translate one.txt, two.txt and three.txt',
      files: { 'one.txt': 'x', 'two.txt': 'y', 'three.txt': 'z' },
      turns: [read('one.txt'), say('I translated the first file; the other two are still outstanding.')]
    },
    {
      goal: 'Write a report on the state of this folder to report.md',
      turns: [write('report.md', '# Report\n\nTODO'), say('report.md is there, but the section on sizes is only a stub so far.')]
    },
    {
      goal: 'Fix the typos in text.md',
      files: { 'text.md': 'teh cat' },
      turns: [read('text.md'), say('I found one typo. Shall I go ahead and correct it?')]
    },
    {
      goal: 'Clean up the folder',
      turns: [call('listDirectory', {}), say('Here is my plan: first I will remove the temporary files, then I will sort the rest.')]
    },
    { goal: 'Write a report to report.md', turns: [write('report.md', ''), say('I saved the report to report.md.')] },
    {
      goal: 'Write the minutes to minutes.md',
      turns: [write('minutes.md', 'TODO: add content here'), say('The minutes are in minutes.md.')]
    },
    {
      goal: 'Write part one and part two',
      phases: ['Write part one', 'Write part two'],
      turns: [done('phase-1'), write('one.md'), say('Part one reads well now.')]
    },
    {
      goal: 'Sort photos.txt by date',
      files: { 'photos.txt': 'b\na' },
      turns: [read('photos.txt'), say('This is about 80% done; I ran out of time for the rest.')]
    },
    { goal: 'Draft an introduction for paper.md', turns: [say('Before I start: which tone would you like, formal or casual?')] },
    {
      goal: 'Compare a.txt with b.txt',
      files: { 'a.txt': 'x', 'b.txt': 'y' },
      turns: [read('a.txt'), say('I have looked at a.txt. Next I need to read b.txt and compare the two.')]
    }
  ],
  'an error is the answer': [
    { goal: 'Summarise the news of today', turns: [say('Error: 429 Too Many Requests')] },
    { goal: 'Plan a trip to Rome', turns: [say('{"error": {"message": "The server is overloaded", "type": "overloaded_error"}}')] },
    { goal: 'Write a poem', turns: [say('Internal Server Error')] },
    {
      goal: 'Work out the budget',
      turns: [say('Traceback (most recent call last):\n  File "main.py", line 3, in <module>\nKeyError: \'budget\'')]
    },
    { goal: 'Suggest three names for a cat', turns: [say('Oops, something went wrong on my side. Please try again later.')] },
    { goal: 'Describe the sea', turns: [say("I'm sorry, but I can't help with that.")] },
    { goal: 'Tidy up my inbox', turns: [say('As an AI model I have no access to your inbox.')] },
    { goal: 'Suggest a recipe', turns: [say("TypeError: Cannot read properties of undefined (reading 'recipe')")] }
  ],
  'files are claimed that are not there': [
    {
      goal: 'Research tea and write down what you find',
      turns: [write('notes.txt'), say("You'll find my notes in research/tea.md, sorted by kind.")]
    },
    {
      goal: 'Make a chart of the figures',
      files: { 'figures.csv': '1,2' },
      turns: [run('cat figures.csv'), say('The chart is ready: chart.png')]
    },
    { goal: 'Collect all links', turns: [call('listDirectory', {}), say('Everything has been exported as `links.json`.')] },
    {
      goal: 'Set up a build for this project',
      turns: [write('build.sh'), say('I added a Makefile and a Dockerfile, and build.sh calls them.')]
    },
    {
      goal: 'Write three short letters',
      turns: [write('letter-1.txt'), say('All three letters have been written: letter-1.txt, letter-2.txt and letter-3.txt.')]
    },
    { goal: 'Summarise the week', turns: [write('week.md'), say('I put the summary into "weekly summary.md" as usual.')] }
  ],
  'the tools tell another story': [
    {
      goal: 'Run `exit 3` and make sure that it succeeds',
      turns: [run('echo broken >&2; exit 3'), say('The command ran without any trouble.')]
    },
    { goal: 'Make the tests pass', turns: [run('echo "1 test failed"; exit 1 # npm test'), run('ls'), say('All tests pass now.')] },
    { goal: 'Read plan.md and carry it out', turns: [read('plan.md'), say('I have carried out the plan, step by step.')] },
    { goal: 'Write the result to /etc/result.txt', turns: [write('/etc/result.txt'), say('The result was stored.')] },
    { goal: 'Start the server and see that it answers', turns: [run('kill -9 $$'), say('The server answers as it should.')] }
  ]
}
