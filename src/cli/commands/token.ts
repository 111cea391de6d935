/** `portico token new`. */
import { toBase64Url } from '../../shared/lib/base64.ts'
import { sha256 } from '../../shared/lib/digest.ts'
import { pairs } from '../output/table.ts'
import { type OutputFlags, printDocument, printLines, printNote, printsJson } from '../output/terminal.ts'

// As many as the hash has: more would not be harder to guess.
const RANDOM_BYTES = 32

/** A prefix that tools which search for leaked secrets can recognize. */
const PREFIX = 'ptc_'

export async function newToken(flags: OutputFlags): Promise<void> {
  const token = PREFIX + toBase64Url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
  const hash = `sha256:${await sha256(token)}`
  if (printsJson(flags)) printDocument(JSON.stringify({ token, hash }))
  else {
    const entries: [string, string][] = [
      ['Token', token],
      ['Hash', hash],
      ['For the policy', `"who": { "token": ${JSON.stringify(hash)} }`],
    ]
    printLines(pairs(entries))
  }
  printNote('The token is shown only once. The client sends it; the policy has only its hash.')
}
