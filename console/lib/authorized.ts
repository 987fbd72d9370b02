import { headerText } from '../../client/create-client.ts'

/** Returns a copy of a request that carries the token, if there is one. */
export function authorized (request: Request, token: string | undefined): Request {
  const copy = request.clone()
  if (token !== undefined) copy.headers.set('authorization', `Bearer ${headerText(token)}`)
  return copy
}
