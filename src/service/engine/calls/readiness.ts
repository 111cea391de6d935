import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import type { Call } from '../../model/call.ts'
import type { EngineReadiness } from '../../model/engine.ts'
import type { EngineContext } from '../context.ts'
import { hasDetail, isMisconfigured } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

// A reserved id that no run has. Describing it needs the same namespace, API key and permissions as other calls.
const UNUSED_ID = '$ready'

/** Whether the engine can serve requests. Never rejects. */
export async function readiness({ rpc, namespace }: EngineContext, call: Call): Promise<EngineReadiness> {
  try {
    await rpc('describeWorkflowExecution', { namespace, execution: { workflowId: UNUSED_ID } }, call)
    return 'reachable'
  } catch (error) {
    if (!(error instanceof RpcError)) return 'unreachable'
    if (isMisconfigured(error)) return 'misconfigured'
    return isEngineResponse(error) ? 'reachable' : 'unreachable'
  }
}

/** Whether the engine itself responded, not a proxy: the run is unknown, or the engine is at a limit. */
function isEngineResponse(error: RpcError): boolean {
  if (error.code === GrpcCode.NOT_FOUND) return hasDetail(error, 'NotFoundFailure')
  return error.code === GrpcCode.RESOURCE_EXHAUSTED && error.details.length > 0
}
