/** Variables of an engine that is described by ours. */
type Environment = Record<string, string | undefined>

/**
 * The environment of a worker: with our variables, and with those that Temporal's SDKs read themselves
 * (`loadClientConnectConfig` and its like).
 */
export function workerEnvironment(env: Environment): Environment {
  return {
    ...env,
    TEMPORAL_ADDRESS: env.ENGINE_ADDRESS,
    TEMPORAL_NAMESPACE: env.ENGINE_NAMESPACE ?? 'default',
  }
}
