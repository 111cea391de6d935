/** Reads bodies whose senders prove with the body who they are: until then, anybody may have sent them. */
import type { Context } from 'hono'
import { type BodyLimits, readBodyStream } from './body.ts'
import type { ByteBudget } from './byte-budget.ts'

/**
 * Reads a body of any type, as the bytes that were sent. Null if `prove` returns false. Until then, the body counts as
 * one whose sender may be anybody.
 */
export type ReadProven = (
  c: Context,
  prove: (body: Uint8Array<ArrayBuffer>) => Promise<boolean>,
) => Promise<Uint8Array<ArrayBuffer> | null>

export function provenReader(limits: BodyLimits, budget: ByteBudget): ReadProven {
  return async (c, prove) => {
    const share = budget.open()
    try {
      const bytes = await readBytes(c.req.raw, limits, share.take)
      await c.get('takePlace')?.()
      return (await prove(bytes)) ? bytes : null
    } finally {
      share.close()
    }
  }
}

// Most events of webhooks are smaller.
const FIRST_BYTES = 16 * 1024

/** Takes the memory for the body before it allocates it. */
async function readBytes(
  request: Request,
  limits: BodyLimits,
  take: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(0)
  let length = 0
  await readBodyStream(request, limits, (chunk) => {
    if (length + chunk.byteLength > bytes.byteLength) {
      const size = Math.max(FIRST_BYTES, 2 * bytes.byteLength, length + chunk.byteLength)
      take(size - bytes.byteLength)
      const larger = new Uint8Array(size)
      larger.set(bytes)
      bytes = larger
    }
    bytes.set(chunk, length)
    length += chunk.byteLength
  })
  return bytes.subarray(0, length)
}
