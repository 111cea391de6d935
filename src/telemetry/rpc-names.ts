/** Methods and status codes by the names that metrics and spans use. */
import { isOperatorMethod, type Method, RpcError } from '../engine/transport/transport.ts'
import { GrpcCode } from '../temporal/grpc-code.ts'

const CODE_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(GrpcCode).map(([name, code]) => [code, name]))

/** `describeWorkflowExecution` is `DescribeWorkflowExecution` in Temporal's API. */
export function rpcName(method: Method): string {
  return `${method.charAt(0).toUpperCase()}${method.slice(1)}`
}

/** With the name of its service, as in the path of a gRPC call. */
export function fullRpcName(method: Method): string {
  const service = isOperatorMethod(method) ? 'operatorservice.v1.OperatorService' : 'workflowservice.v1.WorkflowService'
  return `temporal.api.${service}/${rpcName(method)}`
}

/** The name of the gRPC status code with which a call failed. */
export function codeName(error: unknown): string {
  return (error instanceof RpcError ? CODE_NAMES.get(error.code) : undefined) ?? 'UNKNOWN'
}
