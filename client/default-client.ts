import { withOneError } from './create-client.ts'
import { client } from './generated/client.gen.ts'

/** The client of the service at its default address, which the generated functions use when they are given none. */
const defaultClient = withOneError(client)
export { defaultClient as client }
