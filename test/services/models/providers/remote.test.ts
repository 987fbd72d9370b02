import t from 'tap'
import { REMOTE_KINDS } from '../../../harness/remote-providers.ts'
import { remoteProviderSuite } from '../../../suites/remote-provider.ts'

for (const remote of REMOTE_KINDS) remoteProviderSuite(t, remote)
