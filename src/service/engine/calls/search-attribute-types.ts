import { IndexedValueType as T } from '../../../shared/temporal/enums.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import type { Call } from '../../model/call.ts'
import { ServiceError } from '../../model/errors.ts'
import type { SearchAttributeType } from '../../model/run-filter.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

const TYPES = new Map<unknown, SearchAttributeType>([
  [T.TEXT, 'text'],
  [T.KEYWORD, 'keyword'],
  [T.INT, 'int'],
  [T.DOUBLE, 'double'],
  [T.BOOL, 'bool'],
  [T.DATETIME, 'datetime'],
  [T.KEYWORD_LIST, 'keyword_list'],
])

export async function searchAttributeTypes(
  { rpc, namespace }: EngineContext,
  call: Call,
): Promise<ReadonlyMap<string, SearchAttributeType>> {
  try {
    const { customAttributes, systemAttributes } = await rpc('listSearchAttributes', { namespace }, call)
    const registered = [...Object.entries(systemAttributes ?? {}), ...Object.entries(customAttributes ?? {})]
    return new Map(
      registered.flatMap(([name, type]) => {
        const known = TYPES.get(type)
        return known === undefined ? [] : [[name, known] as const]
      }),
    )
  } catch (error) {
    throw isWithheld(error) ? notAvailable(error) : toServiceError(error, { kind: 'read', details: {} })
  }
}

/** Whether the service may not read the types: an engine may offer them to its operators only, or not at all. */
function isWithheld(error: unknown): boolean {
  return (
    error instanceof RpcError && (error.code === GrpcCode.UNIMPLEMENTED || error.code === GrpcCode.PERMISSION_DENIED)
  )
}

function notAvailable(cause: unknown): ServiceError {
  const message = 'The workflow engine does not list its search attributes to this service: use query instead'
  return new ServiceError('NotSupportedError', message, { cause })
}
