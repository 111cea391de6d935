import type { Call } from '../../domain/call.ts'
import type { EngineReadiness } from '../../domain/engine.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import type { EngineContext } from '../context.ts'
import { hasDetail, isMisconfigured } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

// Reserved: no run has this id. A describe needs namespace and key like any other request, and no permission that requests don't need.
const NO_RUN = '$ready'

/** Whether the engine can serve requests. Never rejects. */
export async function readiness({ rpc, namespace }: EngineContext, call: Call): Promise<EngineReadiness> {
  try {
    await rpc('describeWorkflowExecution', { namespace, execution: { workflowId: NO_RUN } }, call)
    return 'reachable'
  } catch (error) {
    if (!(error instanceof RpcError)) return 'unreachable'
    if (isMisconfigured(error)) return 'misconfigured'
    return answersAsEngine(error) ? 'reachable' : 'unreachable'
  }
}

/** There is no such run; or the engine is at a limit, and says so itself. */
function answersAsEngine(error: RpcError): boolean {
  if (error.code === GrpcCode.NOT_FOUND) return hasDetail(error, 'NotFoundFailure')
  return error.code === GrpcCode.RESOURCE_EXHAUSTED && error.details.length > 0
}
