/** `portico/client`: a client of the API for every JavaScript runtime. */
export type {
  ActivityChanges,
  ActivityRepairs,
  CancelActivityRequest,
  CompleteActivityRequest,
  FailActivityRequest,
  HeartbeatRequest,
  LinkRequest,
  RawPayload,
  RetryActivityRequest,
} from './activity-requests.ts'
export type { AnyActivities, AnyWorkflow, AnyWorkflows, WorkflowTypes } from './catalog-types.ts'
export type {
  Activity,
  ActivityHandle,
  ActivityListOptions,
  ActivityRef,
  ActivityResultOptions,
  Client,
  HistoryOptions,
  ListOptions,
  MessageRequest,
  PublishOptions,
  QueryRequest,
  QuestionOptions,
  ReasonOptions,
  RequestOptions,
  ResetRequest,
  ResultOptions,
  StartActivityRequest,
  StartRequest,
  WithStartRequest,
  Workflow,
  WorkflowHandle,
} from './client.ts'
export type { CallOptions, ClientOptions, Retry } from './connection/options.ts'
export { createClient } from './create-client.ts'
export type { Pages } from './pages.ts'
export { type ClientErrorName, PorticoError } from './portico-error.ts'
export type {
  Batch,
  Batches,
  BatchFilter,
  BatchPage,
  BatchRequest,
  CreatedBatch,
  ListedBatch,
} from './requests/batches.ts'
export type {
  ListedSchedule,
  Overlap,
  PutScheduleOptions,
  Schedule,
  ScheduleDocument,
  ScheduleListOptions,
  SchedulePage,
  Schedules,
  ScheduleWhen,
} from './requests/schedules.ts'
export type { StartActivityOptions, StartOptions } from './requests/start-options.ts'
export type * from './responses.ts'
export type { PublishedItem, StreamEvent, StreamItem, StreamOptions, WorkflowStream } from './stream/stream-event.ts'
