/** What the picture of the console's questions shows. */
import { ask } from '../../src/worker/ask.ts'

export async function refund(): Promise<unknown> {
  const properties = { approved: { type: 'boolean' }, reason: { type: 'string' } }
  const schema = { type: 'object', properties, required: ['approved'] }
  return ask({ message: 'Refund 250 EUR to Ada?', schema, to: ['finance'] })
}
