/** The part of oidc-provider's interface that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener, IncomingMessage, ServerResponse } from 'node:http'

  export default class Provider {
    constructor (issuer: string, configuration: object)
    callback (): RequestListener
    interactionDetails (req: IncomingMessage, res: ServerResponse): Promise<any>
    interactionFinished (req: IncomingMessage, res: ServerResponse, result: object, options: object): Promise<void>
    on (event: string, listener: (...parts: any[]) => void): this
    AccessToken: any
    RefreshToken: any
    Grant: any
    proxy: boolean
  }
}
