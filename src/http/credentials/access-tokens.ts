/** Access tokens: sealed texts that say what their holder may do. Nothing about them is stored. */
import type { Delegation } from '../../domain/access/delegate.ts'
import { createSealer } from '../../lib/seal.ts'

export interface AccessToken extends Delegation {
  /** Epoch milliseconds. */
  expiresAt: number
}

export interface AccessTokens {
  seal(token: AccessToken): Promise<string>
  /** What `seal` got; null for what no key of this service has sealed as an access token. */
  open(token: string): Promise<AccessToken | null>
}

/** The query parameter: https://www.rfc-editor.org/rfc/rfc6750#section-2.3 */
export const URL_TOKEN = 'access_token'

const PREFIX = 'ptk_'

// As of a JWT. It must also fit into the header or the URL of a request, which Node limits to 16 KiB together.
export const MAX_TOKEN_CHARACTERS = 8192

export function isAccessToken(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** The first key seals, and all of them open. */
export function createAccessTokens(keys: readonly Uint8Array<ArrayBuffer>[]): AccessTokens {
  const sealer = createSealer(keys, 'portico access token 1')
  return {
    seal: async (token) => PREFIX + (await sealer.seal(JSON.stringify(token))),
    async open(token) {
      if (!isAccessToken(token) || token.length > MAX_TOKEN_CHARACTERS) return null
      const opened = await sealer.open(token.slice(PREFIX.length))
      // Only `seal` can have made it.
      return opened === null ? null : (JSON.parse(opened) as AccessToken)
    },
  }
}
