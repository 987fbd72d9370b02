import { wordsIn } from '../../lib/words.ts'

/**
 * Groups of words that mean the same or nearly the same in the names and descriptions of tools; commas separate the groups. First come
 * verbs (create, read, change, delete, search, send and the like), then the things that tools handle. A word can occur in several groups.
 * Add only words that many tools use: none for a single tool, or for a single query that failed.
 */
const ALIKE = `
  create make add new build generate start open compose draft insert register establish,
  get read fetch retrieve show view see load display open obtain look, list show enumerate browse overview all which every available,
  update change edit modify alter adjust set correct fix patch replace rename revise,
  delete remove erase drop destroy clear purge discard trash wipe rid, find search look query locate lookup discover seek hunt where,
  send post write tell publish notify message announce share deliver say, run execute start launch trigger perform invoke call,
  stop end close cancel quit terminate abort kill finish halt, move transfer relocate put shift, copy duplicate clone replicate fork,
  rename name title call label, save store keep write put record persist, download export fetch pull save,
  upload import attach push send, compare diff difference differ versus, merge combine join integrate unite,
  undo revert restore reset rollback back recover, connect link attach associate relate join tie, disconnect unlink detach separate,
  approve accept confirm allow, reject decline deny refuse dismiss, reply answer respond comment, watch monitor observe track follow,
  schedule plan recurring daily weekly hourly regularly, pause suspend wait hold, resume continue unpause,
  enable activate on switch toggle, disable deactivate off switch toggle, install deploy add, uninstall remove undeploy,
  upgrade update newer newest latest, count number many total amount, sum add plus total,
  explain describe details info information about metadata, check verify test validate status state health,
  status state progress ready done finished, history log past earlier recent previous, convert transform turn translate into,
  compress zip pack shrink archive, select choose pick, press click tap push hit, type enter write input fill,
  navigate go visit open browse, capture screenshot picture snapshot, reserve book, pay charge bill,
  assign delegate responsible owner, subscribe follow, invite add member, folder directory path, file document, picture image photo,
  sound audio music, video movie clip recording, issue ticket bug problem defect, repository repo project codebase, pull pr proposal,
  branch line feature, commit revision change version, tag release version mark, remote server upstream origin,
  table sheet spreadsheet grid, record row entry item line, field column attribute property,
  schema structure fields columns definition, database data store, document record entry, collection table,
  comment remark note annotation feedback, message post chat, channel room group chat, thread conversation discussion,
  user person people member account colleague who, contact customer client person lead, company organization business firm,
  reaction emoji smiley, email mail inbox, event appointment meeting calendar, task todo job reminder,
  workflow automation flow process, page site website web url, url link address, webpage page article, form field registration,
  dialog popup alert prompt, key keyboard, mouse pointer cursor, tab window, console log output,
  error failure exception problem fault, network http request traffic, script javascript code,
  place location restaurant shop business, coordinates latitude longitude position, directions route way navigate, distance far,
  elevation height altitude high, paper study article publication, documentation docs manual guide reference help,
  library package module framework, cluster kubernetes, pod container, node machine host server, deployment app application,
  replicas instances copies scale, manifest yaml configuration config, port tunnel localhost, command shell terminal,
  environment variable setting configuration, index fast speed performance, size big large space, credits balance quota usage,
  invoice bill receipt, order purchase, price cost, weather temperature forecast, team workspace organization,
  permission access right allowed, token key secret password credential, login authenticate, logs output events,
  dashboard report chart, metric statistics figures, backup dump export, template layout preset, block paragraph section,
  entity thing node object, relation relationship link connection, observation fact, memory knowledge remember,
  reasoning thinking thought, dark light theme color
`

/** Words that do not help to find a tool. */
const COMMON = new Set(
  ('a about all am an and any anyone are as at be been by can could did do does every for from had has have how i if in into is it ' +
    'its just like may me more must my no not of off on one only or our please shall she should so some than that the their them then ' +
    'there these they this those to up us use used using want was we were will with would ' +
    'yet you your').split(' ')
)

/** Matches a word that lost a final e with its ending, such as updat, disabl or serv. */
const NEEDS_E = /(?:at|iz|bl|[^aeiou][cs]|[aeiou](?:[csgv])|[ao]r)$/

/**
 * Returns an English word without its inflectional ending. A word of another language can lose an ending that looks like an English one.
 */
function stem (word: string): string {
  if (word.length < 4) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  let rest = word
  if (/(?:ss|sh|ch|x|z)es$/.test(rest)) rest = rest.slice(0, -2)
  else if (/[^su]s$/.test(rest)) rest = rest.slice(0, -1)
  const form = /^(.{3,})(?:ing|ed)$/.exec(rest)?.[1]
  if (form !== undefined && /[aeiouy]/.test(form)) {
    rest = /([bdgmnprt])\1$/.test(form) ? form.slice(0, -1) : NEEDS_E.test(form) ? `${form}e` : form
  }
  return rest.length > 4 && rest.endsWith('e') ? rest.slice(0, -1) : rest
}

/** Built at the first search, because many services never search for tools. */
let alike: Map<string, Set<string>> | undefined

function readAlike (): Map<string, Set<string>> {
  const read = new Map<string, Set<string>>()
  for (const group of ALIKE.split(',')) {
    const stems = group.trim().split(/\s+/).map(stem)
    for (const each of stems) read.set(each, new Set([...read.get(each) ?? [], ...stems.filter((other) => other !== each)]))
  }
  return read
}

/** Returns the stems of the words with the same meaning as a stem. */
export function alikeTo (word: string): ReadonlySet<string> {
  alike ??= readAlike()
  return alike.get(word) ?? new Set()
}

const RUN = /[\p{L}\p{N}\p{M}]+/gu
/** Matches the position where a new word begins inside a name: createIssue, HTMLPage, v2Api. */
const NEW_WORD = /(?<=\p{Ll}|\d)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

const stemsOf = (text: string): string[] => [...wordsIn(text)].flatMap(({ word }) => COMMON.has(word) ? [] : [stem(word)])

/**
 * Yields the stems of each run of letters and digits. If its spelling splits the run into words, as in GitHub or createIssue, `whole` is
 * the stem of the unsplit run.
 */
function * runsIn (text: string): Generator<{ parts: string[], whole?: string }> {
  for (const [run] of text.matchAll(RUN)) {
    const spelled = run.replace(NEW_WORD, ' ')
    const parts = stemsOf(spelled)
    yield spelled === run ? { parts } : { parts, whole: stemsOf(run)[0] }
  }
}

/**
 * Returns the stems of the words in a text, without common words. Names in any spelling (createIssue, create_issue) are split into words.
 */
export const stemsIn = (text: string): string[] => [...runsIn(text)].flatMap(({ parts }) => parts)

/** Returns the stems under which a text is indexed: the stems of its words, and of its unsplit names. */
export const indexedStems = (text: string): string[] =>
  [...runsIn(text)].flatMap(({ parts, whole }) => whole === undefined ? parts : [...parts, whole])

/** Returns the stems of a query, each once. A name that the index contains unsplit is not split, so that GitHub does not match Git. */
export const queryStems = (text: string, isKnown: (stem: string) => boolean): Set<string> =>
  new Set([...runsIn(text)].flatMap(({ parts, whole }) => whole !== undefined && isKnown(whole) ? [whole] : parts))
