import { ConfigError, parseConfig, type Surroundings } from '../../../../src/shared/config.ts'

export const required = { SERVICE_CATALOG_ID: 'orders' }

export function parse(env: Record<string, string>, options: Surroundings = { binds: true }) {
  return parseConfig({ ...required, ...env }, options)
}

export function issuesOf(env: Record<string, string>, options: Surroundings = { binds: true }): readonly string[] {
  return issuesFrom(() => parseConfig(env, options))
}

export function issuesFrom(parse: () => unknown): readonly string[] {
  try {
    parse()
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}
