import { readFileSync } from 'node:fs'

declare const PACKAGE_VERSION: string | undefined

export const NAME = 'local-agent-service'

/** The build defines PACKAGE_VERSION; when run from the sources, the version is read from package.json. */
export const VERSION: string = typeof PACKAGE_VERSION === 'string'
  ? PACKAGE_VERSION
  : JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** A digest of the built service, its workers and its console, which the name of its file holds. The sources have none. */
const [, digest] = /\/service-([0-9a-f]{8})[0-9a-f]*\.cjs$/.exec(import.meta.url) ?? []

/** The version of this build, in the form of https://semver.org: builds of one package version differ in what follows the plus sign. */
export const BUILD = digest === undefined ? VERSION : `${VERSION}+${digest}`
