/** Errors that endpoints have in common. */
import type { ErrorName } from '../../domain/model/errors.ts'

/** A request that calls the engine. */
export const ENGINE_ERRORS: readonly ErrorName[] = [
  'OverloadedError',
  'ResourceExhaustedError',
  'NotSupportedError',
  'EngineError',
  'EngineUnavailableError',
]

/** A request about one workflow. */
export const RUN_ERRORS: readonly ErrorName[] = [...ENGINE_ERRORS, 'WorkflowNotFoundError', 'PayloadCodecError']

/** A request with a body. */
export const BODY_ERRORS: readonly ErrorName[] = ['UnsupportedMediaTypeError']

/** A request that starts a workflow. */
export const START_ERRORS: readonly ErrorName[] = [
  ...ENGINE_ERRORS,
  ...BODY_ERRORS,
  'WorkflowNotFoundError',
  'WorkflowAlreadyStartedError',
  'IdempotencyKeyReusedError',
  'UnsupportedWorkflowError',
  'PayloadCodecError',
  'CatalogNotAvailableError',
]
