import { workflowInfo } from '@temporalio/workflow'

/** Runs as every workflow. Returns the name that it was started with. */
// biome-ignore lint/style/noDefaultExport: the SDK takes it for all names without an export
export default async function anyWorkflow(): Promise<string> {
  return workflowInfo().workflowType
}
