/** Catalogs are workflow runs that belong to their workers. Clients must not change them. */
import { CATALOG_TYPE } from '../../shared/wire/catalog.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description, ExecutionRef } from '../model/execution.ts'
import type { Ports } from '../ports.ts'

/** Throws `ForbiddenError` for a run that is a catalog. */
export function rejectCatalog(run: Pick<Description, 'workflowId' | 'workflowName'>): void {
  if (run.workflowName === CATALOG_TYPE) throw forbidden(run)
}

/**
 * Throws `ForbiddenError` for an id under which a catalog in the older format was read. Needs no engine call.
 *
 * Catalogs in the current format have reserved ids, which no client can send.
 */
export function rejectOlderCatalog({ catalogs }: Pick<Ports, 'catalogs'>, ref: ExecutionRef): void {
  if (catalogs.isOlderForm(ref.workflowId)) throw forbidden(ref)
}

function forbidden({ workflowId }: ExecutionRef): ServiceError {
  return new ServiceError('ForbiddenError', `Workflow ${workflowId} is a catalog: only its workers can change it`, {
    details: { workflowId },
  })
}
