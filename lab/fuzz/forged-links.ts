/** Opens forged tokens of links: random ones, and real ones with changed bits, length, or encoding. */
import { randomBytes, randomInt } from 'node:crypto'
import { createLinks } from '../../src/service/links/links.ts'
import { ServiceError } from '../../src/service/model/errors.ts'
import type { Link } from '../../src/service/model/link.ts'

const PUBLIC_URL = 'https://portico.example'
const AT_ONCE = 500

const LINK: Link = {
  ...{ linkId: 'l', namespace: 'default', workflowId: 'w', runId: 'r', workflowName: 'refund' },
  ...{ kind: 'signal', handler: 'decide', title: 'Refund?', afterEventId: 0, creator: null, rule: null },
  choices: [{ label: 'Yes', payload: { ok: true }, comment: 'none' }],
  expiresAt: Number.MAX_SAFE_INTEGER,
}

/** The tokens that were accepted, or failed in another way than with a 404: none. */
export async function openForgedLinks(count: number): Promise<string[]> {
  // An older key too, because each token is tried with all of them.
  const keys = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))]
  const links = createLinks({
    keys,
    publicUrl: PUBLIC_URL,
    namespaces: ['default'],
    defaults: { catalog: 'default', namespace: 'default' },
    findRule: () => undefined,
  })
  const real = (await links.urlOf(LINK)).slice(`${PUBLIC_URL}/links/`.length)
  await links.open(real)
  const wrong: string[] = []

  async function openForged(): Promise<void> {
    const token = forge(real)
    if (token === real) return
    try {
      await links.open(token)
      wrong.push(token)
    } catch (error) {
      if (!(error instanceof ServiceError && error.error === 'LinkNotFoundError')) wrong.push(`${token}: ${error}`)
    }
  }

  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, openForged))
  return wrong
}

function forge(real: string): string {
  const bytes = Buffer.from(real, 'base64url')
  switch (randomInt(5)) {
    case 0: // random, of the same length
      return randomBytes(bytes.length).toString('base64url')
    case 1: // random, of any length
      return randomBytes(randomInt(bytes.length * 2)).toString('base64url')
    case 2: {
      // one bit changed
      const at = randomInt(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << randomInt(8))
      return bytes.toString('base64url')
    }
    case 3: // shorter or longer
      return randomInt(2) === 0 ? real.slice(0, randomInt(real.length)) : real + randomBytes(3).toString('base64url')
    default: // the same bytes in another form, which would make another URL of the same link
      return randomInt(2) === 0 ? `${real}=` : bytes.toString('base64')
  }
}
