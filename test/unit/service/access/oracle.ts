/** What docs/access.md says that a caller may do, as a second implementation that shares no code with the first. */

export interface OracleRule {
  can: string[]
  ids?: string[]
  workflows?: string[]
  options?: string[]
  catalogs?: string[]
}

/** What an access token names. */
export type OracleScope = OracleRule

export interface OracleRequest {
  verb: string
  handler?: string | undefined
  /** Absent: some id. */
  workflowId?: string
  /** Of the run, or that a start names. */
  workflowName: string
  options: string[]
  /** Absent: none is used. */
  catalog?: string
}

/** 403: no rule allows the verb, the id or an option. 404: the id is allowed, but its run is of another workflow. */
export type Outcome = 'reached' | 403 | 404

/** The rules of the caller, within the token if it has one. Each of `requests` may be allowed by another rule. */
export function outcomeOf(rules: OracleRule[], token: OracleScope | null, requests: OracleRequest[]): Outcome {
  const outcomes = requests.map((request) => {
    const allowing = rules.filter((rule) => allowsAllButWorkflow(rule, token, request))
    if (allowing.some((rule) => namesWorkflow(rule, token, request))) return 'reached'
    // A start names its workflow, so that nothing depends on a run.
    return allowing.length === 0 || requests.some(({ verb }) => verb === 'start') ? 403 : 404
  })
  // A 403 never depends on what exists, so it goes before a 404.
  return ([403, 404] as const).find((denial) => outcomes.includes(denial)) ?? 'reached'
}

/** The type of an activity is known from its run alone: who may use others of `types` learns that it does not exist. */
export function activityOutcome(
  types: readonly string[],
  type: string | null,
  ofType: (type: string) => Outcome,
): Outcome {
  if (types.every((other) => ofType(other) === 403)) return 403
  return type !== null && ofType(type) === 'reached' ? 'reached' : 404
}

/** A start that may meet an open run, of the workflow `met`, must be allowed for this workflow, too. */
export function startOutcome(rules: OracleRule[], token: OracleScope | null, all: OracleRequest[], met: string | null) {
  const ofRun = all.map((request) => ({ ...request, workflowName: met ?? request.workflowName }))
  return outcomeOf(rules, token, all) === 'reached' && outcomeOf(rules, token, ofRun) === 'reached' ? 'reached' : 403
}

function allowsAllButWorkflow(rule: OracleRule, token: OracleScope | null, request: OracleRequest): boolean {
  const isOption = (name: string) =>
    fits(rule.options ?? [], name) && (token === null || fits(token.options ?? [], name))
  return (
    overlap(rule.workflows ?? ['*'], token?.workflows ?? ['*']) &&
    hasVerb(rule.can, request) &&
    (token === null || hasVerb(token.can, request)) &&
    hasId(rule.ids ?? ['*'], token?.ids ?? ['*'], request.workflowId) &&
    (request.catalog === undefined || fits(rule.catalogs ?? ['default'], request.catalog)) &&
    request.options.every(isOption)
  )
}

function namesWorkflow(rule: OracleRule, token: OracleScope | null, { workflowName }: OracleRequest): boolean {
  return fits(rule.workflows ?? ['*'], workflowName) && fits(token?.workflows ?? ['*'], workflowName)
}

function hasId(some: string[], others: string[], id: string | undefined): boolean {
  return id === undefined ? overlap(some, others) : fits(some, id) && fits(others, id)
}

export function hasVerb(can: string[], { verb, handler }: Pick<OracleRequest, 'verb' | 'handler'>): boolean {
  return can.some((right) => {
    const [name, ...handlers] = right.split(':')
    if (name === '*' || handlers.join(':') === '*' || handlers.length === 0) return name === '*' || name === verb
    return name === verb && handler !== undefined && fits([handlers.join(':')], handler)
  })
}

/** A `*` at the end of a pattern stands for any characters; every other character is itself. */
export function fits(patterns: string[], value: string): boolean {
  return patterns.some((pattern) => {
    const fixed = pattern.endsWith('*') ? pattern.slice(0, -1) : null
    return fixed === null ? pattern === value : value.slice(0, fixed.length) === fixed
  })
}

/** Whether there is a value that fits both. A rule that shares no workflow with the token allows nothing. */
function overlap(some: string[], others: string[]): boolean {
  const fixed = (pattern: string) => pattern.replace(/\*$/, '')
  return some.some((one) => others.some((other) => fits([one], fixed(other)) || fits([other], fixed(one))))
}
