export const writeNotices=(..._:any[])=>{}
