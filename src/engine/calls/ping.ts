import type { Call } from '../../domain/call.ts'
import type { Rpc } from '../rpc.ts'

/** Needs no namespace and no permission: it tells that the engine is there, nothing more. */
export async function ping(rpc: Rpc, call: Call): Promise<void> {
  await rpc('getSystemInfo', {}, call)
}
