/** A version of a worker deployment, as Worker Versioning names it. */
export interface WorkerVersion {
  deploymentName: string
  buildId: string
}

export function isSameVersion(one: WorkerVersion | null, other: WorkerVersion | null): boolean {
  return one?.deploymentName === other?.deploymentName && one?.buildId === other?.buildId
}
