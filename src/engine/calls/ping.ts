import type { Call } from '../../domain/model/call.ts'
import type { Rpc } from '../rpc.ts'

/** Returns the engine's version. Needs neither a namespace nor a permission. */
export async function ping(rpc: Rpc, call: Call): Promise<{ version: string }> {
  const { serverVersion } = await rpc('getSystemInfo', {}, call)
  return { version: serverVersion }
}
