/** Which errors endpoints have in common. */
import type { ErrorName } from '../../domain/model/errors.ts'

/** A request that calls the engine. */
export const ENGINE: readonly ErrorName[] = [
  'OverloadedError',
  'ResourceExhaustedError',
  'NotSupportedError',
  'EngineError',
  'EngineUnavailableError',
]

/** A request about one workflow. */
export const OF_RUN: readonly ErrorName[] = [...ENGINE, 'WorkflowNotFoundError', 'PayloadCodecError']

/** A request with a body. */
export const BODY: readonly ErrorName[] = ['UnsupportedMediaTypeError']

/** A request that starts a workflow. */
export const START: readonly ErrorName[] = [
  ...ENGINE,
  ...BODY,
  'WorkflowNotFoundError',
  'WorkflowAlreadyStartedError',
  'IdempotencyKeyReusedError',
  'UnsupportedWorkflowError',
  'PayloadCodecError',
  'CatalogNotAvailableError',
]
