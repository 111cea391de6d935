import { type Issue, ServiceError } from '../../domain/model/errors.ts'
import type { TypedRunFilter } from '../../domain/model/run-filter.ts'
import { toPointer } from '../../lib/json-pointer.ts'
import { toStatusWord } from '../../temporal/status.ts'
import { quoteLiteral } from '../../temporal/visibility-query.ts'
import { toAttributeCondition } from './attribute-condition.ts'
import { rawQueryIssue } from './raw-query.ts'

// Catalogs, and runs that workers of this service use for themselves.
const NOT_RESERVED = ["WorkflowId NOT STARTS_WITH '$'", "WorkflowType NOT STARTS_WITH '$'"]

/** The visibility query for a filter. Throws `ValidationError` for a value that does not fit its place. */
export function toRunQuery(filter: TypedRunFilter): string {
  const { query, searchAttributes } = filter
  const issues: Issue[] = []
  const conditions = [
    ...(query === undefined ? [] : [`(${query})`]),
    ...equal('WorkflowType', filter.workflowName),
    ...equal('TaskQueue', filter.catalog),
    ...equal('ExecutionStatus', filter.status && toStatusWord(filter.status)),
    ...compare('StartTime', '>=', filter.startedAfter),
    ...compare('StartTime', '<', filter.startedBefore),
    ...compare('CloseTime', '>=', filter.closedAfter),
    ...compare('CloseTime', '<', filter.closedBefore),
    ...NOT_RESERVED,
  ]
  const queryIssue = query === undefined ? null : rawQueryIssue(query)
  if (queryIssue !== null) issues.push({ path: '/query', message: queryIssue })
  for (const attribute of searchAttributes) {
    const compared = toAttributeCondition(attribute)
    if ('condition' in compared) conditions.push(compared.condition)
    else issues.push({ path: toPointer(['searchAttributes', attribute.name]), message: compared.issue })
  }
  if (issues.length === 0) return conditions.join(' AND ')
  const message = issues.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new ServiceError('ValidationError', message, { details: { issues } })
}

function equal(column: string, value: string | undefined): string[] {
  return compare(column, '=', value)
}

function compare(column: string, operator: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${column} ${operator} ${quoteLiteral(value)}`]
}
