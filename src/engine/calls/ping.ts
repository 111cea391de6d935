import type { Call } from '../../domain/call.ts'
import type { Rpc } from '../rpc.ts'

/** Needs no namespace and no permission: it tells that the engine is there, and which. */
export async function ping(rpc: Rpc, call: Call): Promise<{ version: string }> {
  const { serverVersion } = await rpc('getSystemInfo', {}, call)
  return { version: serverVersion }
}
