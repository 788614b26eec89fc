pub(super) fn run(_: bool) -> anyhow::Result<crate::model::Exit> {
    Ok(crate::model::Exit::Keep)
}
