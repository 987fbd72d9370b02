import { readFileSync } from 'node:fs'

declare const PACKAGE_VERSION: string | undefined

export const NAME = 'local-agent-service'

/** The build defines PACKAGE_VERSION; when run from the sources, the version is read from package.json. */
export const VERSION: string = typeof PACKAGE_VERSION === 'string'
  ? PACKAGE_VERSION
  : JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** The digest in the file name of the built service, over the service, its workers and its console. The sources have none. */
const [, digest] = /\/service-([0-9a-f]{8})[0-9a-f]*\.cjs$/.exec(import.meta.url) ?? []

/** The version of this build by https://semver.org. Builds of one package version differ in the part after the plus sign. */
export const BUILD = digest === undefined ? VERSION : `${VERSION}+${digest}`
