import { basename, dirname, join, resolve } from 'node:path'
import { isIn } from './box-places.ts'
import type { Above } from './repository-above.ts'

// Explains failures that a box caused: what the box hides, and what to do. The explanation is derived from the output of programs. It never
// says whether a hidden path exists: otherwise a command could find out about any path.

/** The most characters that are read of an output, from its end. */
const MOST_READ = 64 * 1024
/** Lines with more characters than this are skipped: they are not messages, and take long to search. */
const LONGEST_LINE = 500
const MOST_SENTENCES = 3

interface BoxFacts {
  /** The working folder, as the command sees it, and the folder that it started in. */
  folder: string
  cwd: string
  /** The path of the home folder in the box (the sandbox of the command). */
  home: string
  above: Above
  /** True if the command is not allowed to change the repository above. */
  isKept: boolean
  /** Hosts that the command is allowed to reach. */
  hosts: string[]
  /** Files and folders outside the working folder that exist in the box. */
  shown: string[]
  /** Places with keys that the box hides, in the system folders and in the working folder. */
  keys: string[]
  /** Paths in the working folder that are read-only in the box, because programs act on them by themselves. */
  readOnly: string[]
  /** The command line. */
  line: string
}

export interface CommandOutput {
  stdout: string
  stderr: string
  hasFailed: boolean
  /** Whether the call can ask for a network, and whether it can ask to run outside the box. */
  mayAsk: { network: boolean, outside: boolean }
}

const HOST = String.raw`([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])`
/** Messages of programs that found no address for a host. */
const NO_HOST = [
  `[Cc]ould not resolve (?:host|hostname):? '?${HOST}`, `getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${HOST}`, `Failed to resolve '${HOST}'`,
  `lookup ${HOST}(?: on |: )`, `unable to resolve host address .${HOST}`, `host='${HOST}'`, `could not translate host name "${HOST}"`,
  `Cannot connect to host ${HOST}`, `error sending request for url \\(https?://${HOST}`, `download from .?https?://${HOST}`,
  `(?:fetch|connect to|request to|access) .?https?://${HOST}.* failed`
].map((pattern) => new RegExp(pattern))
const NO_NETWORK = new RegExp(
  'Temporary failure in name resolution|Name or service not known|failed to lookup address|dns error|--offline was specified|' +
    'Network is unreachable|ENETUNREACH|EAI_AGAIN|ENOTFOUND|Errno -[235]\\]|because the network was disabled'
)
const REFUSED_HOST = new RegExp(`${HOST}:(\\d+) is not among the hosts`)
/** Messages about a server on this computer that does not answer. */
const REFUSED_HERE = /refused|[Ff]ailed to connect|[Cc]ould not connect/
const THIS_COMPUTER = /127\.0\.0\.1|localhost|::1/
const PORT = /(?:port |:)(\d{2,5})\b/
const NO_LOGIN = /terminal prompts disabled|could not read (?:Username|Password)|ENEEDAUTH|Permission denied \(publickey/
const NO_SETTINGS =
  /(?:could not (?:write|lock|set)|unable to write|could not rename).*config|config.*(?:Device or resource busy|Read-only)/
const LOCKED = /(?:\.lock|HEAD|objects?|refs?|index)\b.*Read-only file system/
const DELETED = /^(?:[ DMA]D|[ \t]+deleted:)[ \t]+(?:\.\.\/)+\S/m
const MISSING = new RegExp(
  'No such file|ENOENT|not found|does not exist|[Cc]annot (?:access|open|stat|read|connect|find)|' +
    '[Cc]ould(?: not|n.t) (?:open|find|read|connect)|' +
    'Permission denied|EACCES|Read-only|EROFS|EBUSY|resource busy|[Ff]ailed to|[Uu]nable to|FileNotFound|socket'
)
/** The start of an error that a shell reports. */
const OF_SHELL = /^\/\S+: line \d+: /
const READ_ONLY = /Read-only|EROFS/
/** Messages about places that the box itself has mounted. */
const BUSY = /Read-only|EROFS|EBUSY|resource busy/
/** Messages about a place that cannot be written. */
const LOCKED_PLACE = /Read-only|EROFS|EBUSY|EACCES|Permission denied/
const SOCKET = /^\/(?:var\/)?run\/|\.sock(?:et)?$|\.s\.PGSQL/
/**
 * A message that might be about a socket and does not name it. The path of the socket is then in a line of a traceback, or in the command
 * line.
 */
const UNNAMED = /connect|socket|\[Errno 2\] No such file or directory$/i
const PATH = /(?:^|[\s'"`(=:,]|unix:\/\/)((?:\/|(?:\.\.\/)+|~\/)[\w.@+~-](?:[\w.@+~/-]*[\w@+~/-])?)/g

const sentenceOut = (outside: boolean, what: string): string =>
  outside ? `${what} with "outside": true and a reason, which the user is asked about.` : 'No command may leave the box here: say so.'

/** Returns sentences that say how the box made a command fail, and what to do; none if the box is not known to be the cause. */
export function explainFailure (facts: BoxFacts, { stdout, stderr, hasFailed, mayAsk }: CommandOutput): string[] {
  const errors = linesOf(hasFailed ? `${stdout.slice(-MOST_READ)}\n${stderr.slice(-MOST_READ)}` : stderr.slice(-MOST_READ))
  const network = hasFailed || /curl|fetch|resolve|refused/i.test(errors) ? networkSentence(facts, errors, mayAsk) : undefined
  const sentences = [
    repositorySentence(facts, errors, { stdout: linesOf(stdout.slice(-MOST_READ)), hasFailed, mayAsk }),
    network,
    hasFailed && NO_LOGIN.test(errors)
      ? `The box has no keys and no logins of the user. ${sentenceOut(mayAsk.outside, 'Run what needs them')}`
      : undefined,
    readOnlySentence(facts, errors, mayAsk.outside),
    // In network errors, paths are parts of URLs.
    ...hasFailed && network === undefined ? pathSentences(facts, errors, mayAsk.outside) : []
  ]
  return sentences.filter((sentence) => sentence !== undefined).slice(0, MOST_SENTENCES)
}

const linesOf = (text: string): string => text.split('\n').filter((line) => line.length <= LONGEST_LINE).join('\n')

function repositorySentence (
  { above, folder, isKept }: BoxFacts,
  errors: string,
  { stdout, hasFailed, mayAsk: { outside } }: Omit<CommandOutput, 'stderr'>
): string | undefined {
  const { repository, hidden } = above
  if (hidden !== undefined && /not a git repository|ambiguous argument 'HEAD'/.test(errors)) {
    return `The box hides the repository of ${JSON.stringify(hidden.top)}: ${hidden.why}. ${sentenceOut(outside, 'Run git')}`
  }
  if ((hasFailed || /^fatal: .*(?:could not set|config-file failed)/m.test(errors)) && NO_SETTINGS.test(errors)) {
    return `The settings of git cannot be changed in the box. ${sentenceOut(outside, 'Run that command of git')}`
  }
  if (repository === undefined) return undefined
  if (isKept && LOCKED.test(errors)) {
    return `The repository of ${JSON.stringify(repository.top)} cannot be changed here, as this command works on a copy of the folder. ` +
      'Leave the files as they are to be, and let the user commit them.'
  }
  if (repository.top !== folder && (DELETED.test(stdout) || DELETED.test(errors))) {
    return `Of the repository ${JSON.stringify(repository.top)} the box shows ${JSON.stringify(folder)} alone: git takes the files ` +
      'beside it for deleted, but they are there. Name paths: git status ., git add ., git commit without -a.'
  }
  return undefined
}

function networkSentence ({ hosts }: BoxFacts, errors: string, mayAsk: CommandOutput['mayAsk']): string | undefined {
  const [, refused, at] = REFUSED_HOST.exec(errors) ?? []
  if (refused !== undefined) {
    const name = ['80', '443'].includes(at) ? refused : `${refused}:${at}`
    return `The box reaches ${hosts.join(', ')} alone: add ${JSON.stringify(name)} to "network", which the user is asked about.`
  }
  const host = NO_HOST.flatMap((pattern) => pattern.exec(errors)?.[1] ?? []).find((each) => each !== 'localhost')
  if (host !== undefined || NO_NETWORK.test(errors)) {
    const name = host === undefined ? 'the host' : JSON.stringify(host)
    const has = hosts.length > 0 ? `The box reaches ${hosts.join(', ')} alone` : 'The box has no network'
    return mayAsk.network
      ? `${has}: name ${name} in "network" of the call, which the user is asked about.`
      : `${has}. ${sentenceOut(mayAsk.outside, 'Run what needs one')}`
  }
  const here = errors.split('\n').find((line) => REFUSED_HERE.test(line) && THIS_COMPUTER.test(line))
  if (here === undefined) return undefined
  const [, port] = PORT.exec(here.replace(/::1/g, '')) ?? []
  const where = port === undefined ? '' : ` at port ${port}`
  const sentence = `The box has a network of its own, so no server of this computer answers${where}: ` +
    'start it in this conversation with "background": true.'
  return mayAsk.outside ? `${sentence} ${sentenceOut(true, 'Or run the command')}` : sentence
}

/** Returns a sentence about a read-only file, even if the command succeeded: `git checkout` continues and leaves such a file as it is. */
function readOnlySentence ({ readOnly, line }: BoxFacts, errors: string, outside: boolean): string | undefined {
  const busy = errors.split('\n').filter((text) => BUSY.test(text))
  if (busy.length === 0) return undefined
  // `sed -i` reports its temporary file. The file that it could not replace is in the command line.
  const path = readOnly.find((each) => [...busy, line].some((text) => text.includes(basename(each))))
  return path && `${JSON.stringify(path)} is read-only in the box, as programs obey it when somebody opens its folder. Change it with a ` +
    `file tool. ${sentenceOut(outside, 'Or run the command')}`
}

/** Returns the absolute paths that a text names. */
const placesIn = (text: string, { cwd, home }: BoxFacts): string[] =>
  [...text.matchAll(PATH)].map(([, named]) => named.startsWith('~/') ? join(home, named.slice(2)) : resolve(cwd, named))

function pathSentences (facts: BoxFacts, errors: string, outside: boolean): Array<string | undefined> {
  const { folder, shown, keys, line } = facts
  const lines = errors.split('\n').map((text) => text.replace(OF_SHELL, ''))
  const failures = lines.filter((text) => MISSING.test(text))
  if (failures.length === 0) return []
  const isBeside = (path: string) => !isIn(folder, path)
  const isHidden = (path: string) => isBeside(path) && dirname(path) !== '/' && !shown.some((each) => isIn(each, path))
  const find = (texts: string[], isSought: (path: string) => boolean) => texts.flatMap((text) => placesIn(text, facts)).find(isSought)

  // Dot folders are searched for by name, because the command might have changed to another folder.
  const key = keys.find((each) => {
    const name = basename(each).startsWith('.') ? basename(each) : each
    return failures.some((text) => text.includes(`${name}/`))
  })
  // The box shows system folders, but they cannot be written.
  const locked = find(failures.filter((text) => READ_ONLY.test(text)), isBeside) ??
    find(failures.filter((text) => LOCKED_PLACE.test(text)), isHidden)
  const missing = failures.filter((text) => !LOCKED_PLACE.test(text) && (locked === undefined || !text.includes(locked)))
  const isUnnamed = missing.some((text) => UNNAMED.test(text))
  const named = isUnnamed ? [...missing, ...lines.filter((text) => text.includes('connect(')), line] : missing
  const socket = find(named, (path) => SOCKET.test(path) && isBeside(path))
  const hidden = find(missing, isHidden)
  const only = JSON.stringify(folder)
  return [
    key && `The box hides ${JSON.stringify(key)}, as keys are there. ${sentenceOut(outside, 'Run what needs them')}`,
    socket !== undefined
      ? `Sockets of this computer, such as ${socket}, are not in the box. ${sentenceOut(outside, 'Run what needs one')}`
      : hidden && `The box shows of the user's files ${only} alone: whether ${hidden} is there cannot be seen in it. ` +
        sentenceOut(outside, 'Copy what is needed into the folder, or run the command'),
    locked && `The box can write in ${only}, /tmp and the home alone, not to ${locked}. ` +
      sentenceOut(outside, 'Write into the folder, or run the command')
  ]
}
