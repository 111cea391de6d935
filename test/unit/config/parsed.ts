import { ConfigError, parseConfig, type Surroundings } from '../../../src/config.ts'

export const least = { SERVICE_CATALOG_ID: 'orders' }

export function parse(env: Record<string, string>, options: Surroundings = { binds: true }) {
  return parseConfig({ ...least, ...env }, options)
}

export function faultsOf(env: Record<string, string>, options: Surroundings = { binds: true }): readonly string[] {
  try {
    parseConfig(env, options)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}
