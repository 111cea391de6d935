import type { EngineFeatures } from './engine.ts'
import { ServiceError } from './errors.ts'

const STATEMENTS = {
  updateWithStart: 'Update-with-start is not supported',
  asyncUpdates: 'Asynchronous updates are not supported',
} as const satisfies Partial<Record<keyof EngineFeatures, string>>

/** Throws `NotSupportedError` for a feature that the transport does not support, before any call is made. */
export function assertSupported(features: EngineFeatures, feature: keyof typeof STATEMENTS): void {
  const support = features[feature]
  if (support.supported) return
  const message = `${STATEMENTS[feature]}: ${support.reason} (GET /capabilities: ${feature})`
  throw new ServiceError('NotSupportedError', message)
}
