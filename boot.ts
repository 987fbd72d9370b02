#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Before anything else is loaded: compiled code is kept beside the configuration, which halves the next start.
// Who only asks for help gets no directory.
const isQuestion = process.argv.slice(2).some((argument) => ['--help', '-h', '--version'].includes(argument))
if (!isQuestion) enableCompileCache(join(process.env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent'), 'cache'))
await import('./server.ts')
