/** A Worker Deployment Version, as Temporal's Worker Versioning defines it. */
export interface WorkerVersion {
  deploymentName: string
  buildId: string
}

export function isSameVersion(one: WorkerVersion | null, other: WorkerVersion | null): boolean {
  return one?.deploymentName === other?.deploymentName && one?.buildId === other?.buildId
}
