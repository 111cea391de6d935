import type { temporal } from '@temporalio/proto'
import type { Call } from '../../model/call.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'

/** What the engine can do in the namespace. Engines leave out what they do not know. */
export async function namespaceCapabilities(
  context: EngineContext,
  call: Call,
): Promise<temporal.api.namespace.v1.NamespaceInfo.ICapabilities> {
  return (await describeNamespace(context, call)).capabilities ?? {}
}

export async function describeNamespace(
  { rpc, namespace }: EngineContext,
  call: Call,
): Promise<temporal.api.namespace.v1.INamespaceInfo> {
  try {
    const { namespaceInfo } = await rpc('describeNamespace', { namespace }, call)
    return namespaceInfo ?? {}
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}
