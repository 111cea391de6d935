/** Warnings for a worker that runs, but not as its owner expects. */
export interface StartupFacts {
  /** Whether polls can be held back until the catalog is published. */
  isHeld: boolean
  /** Whether `porticoPlugin` was given a destination for traces. */
  isTraced: boolean
  /** Whether the worker still has the interceptors that record spans. */
  hasInterceptors: boolean
  /** Environment variables that enable tracing although `porticoPlugin` was given no `traces`. */
  ignoredVariables: readonly string[]
  /** Environment variables that configure webhooks although `porticoPlugin` was given no `webhooks`. */
  ignoredWebhooks: readonly string[]
}

export function startupWarnings(facts: StartupFacts): string[] {
  const { isHeld, isTraced, hasInterceptors, ignoredVariables, ignoredWebhooks } = facts
  const warnings: string[] = []
  if (!isHeld) {
    warnings.push(
      'Portico cannot delay polling with this version of @temporalio/worker: workflows may be started before the catalog is published',
    )
  }
  if (isTraced && !hasInterceptors) {
    warnings.push(
      'This worker records no traces: another plugin replaced interceptors.activity. Make portico the last plugin',
    )
  }
  if (ignoredVariables.length > 0) {
    warnings.push(
      `${ignoredVariables.join(' and ')} has no effect on this worker: pass traces: parseTracesConfig(process.env) to porticoPlugin`,
    )
  }
  if (ignoredWebhooks.length > 0) {
    warnings.push(
      `${ignoredWebhooks.join(' and ')} has no effect on this worker: pass webhooks: parseWebhooksConfig(process.env) to porticoPlugin`,
    )
  }
  return warnings
}
