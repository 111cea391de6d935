/** Access tokens: encrypted strings that contain the rights of their holder. The service stores nothing about them. */

import { createSealer } from '../../../shared/lib/seal.ts'
import type { Delegation } from '../../access/delegate.ts'

export interface AccessToken extends Delegation {
  /** Epoch milliseconds. */
  expiresAt: number
}

export interface AccessTokens {
  seal(token: AccessToken): Promise<string>
  /** The value that `seal` has encrypted; null if the string is not an access token of one of this service's keys. */
  open(token: string): Promise<AccessToken | null>
}

/** The query parameter: https://www.rfc-editor.org/rfc/rfc6750#section-2.3 */
export const URL_TOKEN = 'access_token'

const PREFIX = 'ptk_'

// The same limit as for a JWT. A token must fit into a header or the URL: Node limits both together to 16 KiB.
export const MAX_TOKEN_CHARACTERS = 8192

export function isAccessToken(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** Encrypts with the first key, and decrypts with any of them. */
export function createAccessTokens(
  keys: readonly Uint8Array<ArrayBuffer>[],
  deployment: string | null = null,
): AccessTokens {
  const sealer = createSealer(keys, 'portico access token 1', deployment)
  return {
    seal: async (token) => PREFIX + (await sealer.seal(JSON.stringify(token))),
    async open(token) {
      if (!isAccessToken(token) || token.length > MAX_TOKEN_CHARACTERS) return null
      const opened = await sealer.open(token.slice(PREFIX.length))
      // Not validated: only `seal` can have created it.
      return opened === null ? null : (JSON.parse(opened) as AccessToken)
    },
  }
}
