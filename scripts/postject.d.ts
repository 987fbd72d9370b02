/** The part of postject's interface that scripts/executable.ts uses; the package has no types. */
declare module 'postject' {
  export function inject (
    executable: string,
    resource: string,
    content: Buffer,
    options: { sentinelFuse: string, machoSegmentName?: string }
  ): Promise<void>
}
