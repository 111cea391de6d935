import { toPointer } from '../../shared/lib/json.ts'
import { toRfc3339 } from '../../shared/lib/rfc3339.ts'
import { toStatusWord } from '../../shared/temporal/outcome.ts'
import { PROBLEMS_ATTRIBUTE } from '../../shared/temporal/search-attributes.ts'
import { quoteLiteral } from '../../shared/temporal/visibility-query.ts'
import { RESERVED_PREFIXES } from '../../shared/wire/names.ts'
import { type Issue, invalidValue, ServiceError } from '../model/errors.ts'
import type { AttributeFilter, SearchAttributeType, TypedRunFilter, VisibleRuns } from '../model/run-filter.ts'
import type { ScheduleFilter } from '../model/schedule.ts'
import type { ActivityFilter } from '../model/standalone-activity.ts'

// Leaves out internal runs of Portico, and those of the engine, which it lists if a query names their division.
const NOT_RESERVED = ['WorkflowId', 'WorkflowType'].flatMap((column) =>
  RESERVED_PREFIXES.map((prefix) => `${column} NOT STARTS_WITH ${quoteLiteral(prefix)}`),
)

/** The visibility query for a filter. Throws `ValidationError` for an invalid value. */
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
    ...problemCondition(filter.problem),
    ...(filter.open === true ? [IS_OPEN] : []),
    ...visibleCondition(filter.visible),
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

/** The same for standalone activities. Patterns of workflow names are of types here. */
export function toActivityQuery({ query, activityName, catalog, status, visible }: ActivityFilter): string {
  const issue = query === undefined ? null : rawQueryIssue(query)
  if (issue !== null) throw invalidValue('/query', issue)
  return [
    ...(query === undefined ? [] : [`(${query})`]),
    ...equal('ActivityType', activityName),
    ...equal('TaskQueue', catalog),
    ...equal('ExecutionStatus', status && toStatusWord(status)),
    ...visibleCondition(visible, 'Activity'),
    NOT_OF_WORKERS,
  ].join(' AND ')
}

// Leaves out what workers of Portico run for themselves.
const NOT_OF_WORKERS = "ActivityId NOT STARTS_WITH '$'"

/** The same for schedules, of which the engine can filter few columns. Their workflow names are not among them. */
export function toScheduleQuery({ query, paused, visible }: ScheduleFilter): string {
  const issue = query === undefined ? null : rawQueryIssue(query)
  if (issue !== null) throw invalidValue('/query', issue)
  const alternatives = visible?.map(({ ids }) => matching('ScheduleId', ids))
  // One rule without patterns of ids: all schedules.
  const isNarrowed = alternatives?.every((conditions) => conditions.length > 0)
  return [
    ...(query === undefined ? [] : [`(${query})`]),
    ...(paused === undefined ? [] : [`TemporalSchedulePaused = ${paused}`]),
    ...(alternatives && isNarrowed ? [`(${alternatives.flat().join(' OR ')})`] : []),
  ].join(' AND ')
}

const IS_OPEN = "ExecutionStatus IN ('Running', 'Paused')"

// A run that was terminated keeps the attribute.
const HAS_PROBLEM = `${PROBLEMS_ATTRIBUTE} IS NOT NULL AND ${IS_OPEN}`

function problemCondition(problem: boolean | undefined): string[] {
  if (problem === undefined) return []
  return [problem ? HAS_PROBLEM : `(${PROBLEMS_ATTRIBUTE} IS NULL OR ExecutionStatus NOT IN ('Running', 'Paused'))`]
}

/** The runs that the caller may see. In a database that ignores case, the engine also returns others. */
function visibleCondition(
  visible: readonly VisibleRuns[] | undefined,
  of: 'Activity' | 'Workflow' = 'Workflow',
): string[] {
  if (visible === undefined) return []
  const alternatives = visible.map(({ ids, workflows }) =>
    [...matching(`${of}Id`, ids), ...matching(`${of}Type`, workflows)].join(' AND '),
  )
  return [`(${alternatives.map((alternative) => `(${alternative})`).join(' OR ')})`]
}

function matching(column: string, patterns: readonly string[] | undefined): string[] {
  if (patterns === undefined || patterns.includes('*')) return []
  const alternatives = patterns.map((pattern) =>
    pattern.endsWith('*')
      ? `${column} STARTS_WITH ${quoteLiteral(pattern.slice(0, -1))}`
      : `${column} = ${quoteLiteral(pattern)}`,
  )
  return [`(${alternatives.join(' OR ')})`]
}

function equal(column: string, value: string | undefined): string[] {
  return compare(column, '=', value)
}

function compare(column: string, operator: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${column} ${operator} ${quoteLiteral(value)}`]
}

/** A condition of a visibility query, or what is wrong with the value. */
type AttributeCondition = { condition: string } | { issue: string }

/** Compares the attribute with the value as its type demands. */
function toAttributeCondition({ name, type, value }: AttributeFilter): AttributeCondition {
  return COMPARISONS[type](`\`${name.replaceAll('`', '``')}\``, value)
}

type Comparison = (column: string, value: string) => AttributeCondition

const equalsString: Comparison = (column, value) => ({ condition: `${column} = ${quoteLiteral(value)}` })

const COMPARISONS: Readonly<Record<SearchAttributeType, Comparison>> = {
  keyword: equalsString,
  keyword_list: equalsString,
  text: hasWord,
  int: unquoted(/^-?\d{1,19}$/, 'must be an integer'),
  double: unquoted(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/, 'must be a number'),
  bool: unquoted(/^(?:true|false)$/, 'must be true or false'),
  datetime: equalsTime,
}

/** Full-text search ignores all other characters, except that SQLite's has a syntax of its own, with errors. */
function hasWord(column: string, value: string): AttributeCondition {
  const words = value.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim()
  return words === '' ? { issue: 'must contain a word' } : equalsString(column, words)
}

function unquoted(pattern: RegExp, issue: string): Comparison {
  return (column, value) => (pattern.test(value) ? { condition: `${column} = ${value}` } : { issue })
}

/**
 * A range of one millisecond. SQLite compares times as strings of different formats, so an equality would not find
 * them.
 */
function equalsTime(column: string, value: string): AttributeCondition {
  const time = Date.parse(toRfc3339(value) ?? '')
  if (Number.isNaN(time)) return { issue: 'must be a time like 2026-01-31T12:00:00Z' }
  const at = (offsetMs: number) => quoteLiteral(new Date(time + offsetMs).toISOString())
  return { condition: `${column} >= ${at(0)} AND ${column} < ${at(1)}` }
}

/**
 * Checks a client's visibility query before it is combined with other conditions: it must stay inside the parentheses
 * that are put around it. Strings and comments are recognized as the engine's parser (vitess) does.
 */

// People do not write longer queries, and the engine's parser is recursive.
const MAX_LENGTH = 10_000

// A backslash escapes a character of a string. A doubled quote needs no rule: it reads as the end of one string and the
// start of another.
const TOKEN = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|['"`()#;]|--|\/\/|\/\*/gs

/** What is wrong with the query; null if `(query)` is a single expression. The engine may still reject it. */
export function rawQueryIssue(query: string): string | null {
  if (query.trim() === '') return 'must not be empty'
  if (query.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  let depth = 0
  for (const [token] of query.matchAll(TOKEN)) {
    const issue = tokenIssue(token)
    if (issue !== null) return issue
    if (token === '(') depth++
    if (token === ')' && --depth < 0) break
  }
  return depth === 0 ? null : 'must have balanced parentheses'
}

function tokenIssue(token: string): string | null {
  switch (token) {
    case "'":
    case '"':
    case '`':
      return 'must have balanced quotes'
    case '#':
    case '--':
    case '//':
    case '/*':
      return 'must not contain comments'
    case ';':
      return 'must not contain a semicolon'
    default:
      return null
  }
}
